/** What the cells' view shows, as a table, a picture or a drawing. */
import type { CellView } from './cells';
import { valueOf } from './colouring';
import { cssValue, fileName, h, number, save, svgElement, tsv } from './dom';

function saveAs(view: CellView, ending: string, blob: Blob): void {
    save(`${fileName(view.name, 'scale', view.result.scaleNumber(view.t))}.${ending}`, blob);
}

/** A row for each cell that is not hidden. */
export function saveTable(view: CellView): void {
    const { result, state, painted } = view;
    const { meta } = result;
    const clusters = result.clustersAt(view.t);
    const columns = meta.columns.map((column, i) => ({ column, codes: result.array(`column${i}`) }));
    const head = ['cell', 'x', 'y', 'selected', painted.title, ...columns.map(({ column }) => column.name)];
    if (clusters) head.push('cluster');
    const values = new Float32Array(2 * result.n);
    if (view.map) values.set(view.map.positions);
    else result.positionsAt(view.t, values);
    const rows = view.shown().map((j) => {
        const row: (string | number)[] = [meta.cell_names[j], number(values[2 * j], 6), number(values[2 * j + 1], 6)];
        row.push(state.selection.has(meta.cell_names[j]) ? 1 : 0, valueOf(painted, j));
        for (const { column, codes } of columns) {
            if (column.categories) row.push(column.categories[codes[j]]);
            else if (codes[j] === 0) row.push('');
            else row.push(number(column.from! + ((codes[j] - 1) / 254) * (column.to! - column.from!), 3));
        }
        if (clusters) row.push(clusters[j] + 1);
        return row;
    });
    saveAs(view, 'tsv', new Blob([tsv([head, ...rows])], { type: 'text/tab-separated-values' }));
}

export function saveImage(view: CellView): void {
    const canvas = view.stage.querySelector('canvas.cells') as HTMLCanvasElement;
    view.deck.redraw('image');
    const copy = h('canvas', { width: canvas.width, height: canvas.height });
    const context = copy.getContext('2d')!;
    context.fillStyle = cssValue('--stage');
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, 0);
    copy.toBlob((blob) => blob && saveAs(view, 'png', blob), 'image/png');
}

/** The cells as circles. */
export function saveDrawing(view: CellView): void {
    const { clientWidth: width, clientHeight: height } = view.stage;
    const drawing = svgElement('svg', {
        xmlns: 'http://www.w3.org/2000/svg',
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
    });
    drawing.append(svgElement('rect', { width, height, fill: cssValue('--stage') }));
    const { n } = view.result;
    const opacity = view.opacity();
    const radius = n <= 300 ? 5 : n <= 3000 ? 3 : 1.5;
    for (const j of view.shown()) {
        const [cx, cy] = view.pixel(j);
        const [r, g, b, a] = view.colours.subarray(4 * j, 4 * j + 4);
        const fill = `rgb(${r},${g},${b})`;
        const dot = { cx: cx.toFixed(1), cy: cy.toFixed(1), r: radius, fill, 'fill-opacity': ((opacity * a) / 255).toFixed(2) };
        drawing.append(svgElement('circle', dot));
    }
    saveAs(view, 'svg', new Blob([new XMLSerializer().serializeToString(drawing)], { type: 'image/svg+xml' }));
}
