/** Making elements and files. Text from data files only ever becomes text nodes or attribute values. */

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function') element.addEventListener(name, value as EventListener);
        else if (value === true) element.setAttribute(name, '');
        else if (value !== false && value != null) element.setAttribute(name, String(value));
    }
    for (const child of children) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return element;
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
    return h('button', { type: 'button', click: onClick, ...attributes }, label);
}

export function svgElement<K extends keyof SVGElementTagNameMap>(
    tag: K,
    attributes: Record<string, string | number>,
): SVGElementTagNameMap[K] {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    return element;
}

export function save(name: string, blob: Blob): void {
    const url = URL.createObjectURL(blob);
    const link = h('a', { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A name for a file from a title: letters, digits and hyphens. */
export function fileName(...parts: (string | number)[]): string {
    const clean = parts
        .join('-')
        .toLowerCase()
        .replace(/[^a-z0-9.]+/g, '-')
        .replace(/^-+|-+$/g, '');
    return clean.slice(0, 80) || 'pnmf';
}

/** Rows as tab-separated text: tabs and line ends inside a value become spaces. */
export function tsv(rows: (string | number | null | undefined)[][]): string {
    const cell = (value: string | number | null | undefined): string =>
        value === null || value === undefined ? '' : String(value).replace(/[\t\r\n]+/g, ' ');
    return rows.map((row) => row.map(cell).join('\t')).join('\n') + '\n';
}

/** Rows with commas, values in quotes where they need them. */
export function csv(rows: string[][]): string {
    const cell = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    return rows.map((row) => row.map(cell).join(',')).join('\n') + '\n';
}

export function number(value: number | null | undefined, digits = 4): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return '\u2013';
    if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toExponential(digits - 2);
    return String(Number(value.toPrecision(digits)));
}

export const count = (value: number): string => value.toLocaleString('en-US');

/** The stylesheet values a drawing needs when it leaves the page. */
export function cssValue(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
