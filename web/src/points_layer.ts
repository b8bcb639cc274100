/**
 * Cells as round points: a layer of deck.gl that draws each as one vertex.
 *
 * deck.gl's own scatter plot draws an instance of a square for each point. Drawn in software, 50,000 cells took half a
 * second a frame that way, and a twentieth of a second as a list of points (benchmarks/results/bench.md).
 */
import { Layer, type LayerProps, type UpdateParameters } from '@deck.gl/core';
import type { Buffer } from '@luma.gl/core';
import { Model } from '@luma.gl/engine';
import type { ShaderModule } from '@luma.gl/shadertools';

export interface Points {
    /** x and y of each point; a new object when the numbers changed. */
    positions: Float32Array;
    /** Red, green, blue and opacity of each point. */
    colours: Uint8Array;
    /** In pixels; 0 hides a point. */
    radii: Float32Array;
}

interface PointsProps extends LayerProps {
    points: Points;
    /** Counts the changes of `positions` and of the looks, `colours` and `radii`. */
    moves: number;
    looks: number;
    edge: [number, number, number];
    edgeWidth: number;
    /** How many others a point has about it in a square of one unit (`crowdOf`). Many that lie over each other let
     * those below show: the picture is then one of how dense they are. 0: it is not looked at. */
    crowd: number;
}

/** Of each point where a unit has so many pixels. A cell that stands alone can always be seen. */
export function opacityOf(crowd: number, radii: Float32Array, pixels: number): number {
    const radius = radii.find((r) => r > 0) ?? 0;
    const overPixel = (crowd * Math.PI * radius ** 2) / pixels ** 2;
    return Math.max(0.2, Math.min(1, 3 / overPixel));
}

const uniformBlock = /* glsl */ `\
layout(std140) uniform pointsUniforms {
  mat4 view;
  vec3 edge;
  float edgeWidth;
  float devicePixels;
  float opacity;
} points;
`;

const pointsUniforms = {
    name: 'points',
    vs: uniformBlock,
    fs: uniformBlock,
    uniformTypes: { view: 'mat4x4<f32>', edge: 'vec3<f32>', edgeWidth: 'f32', devicePixels: 'f32', opacity: 'f32' },
} as const satisfies ShaderModule;

const vertexShader = /* glsl */ `\
#version 300 es
in vec2 positions;
in vec4 colours;
in float radii;
out vec4 colour;
out float radius;

void main(void) {
  radius = (radii + 0.5 * points.edgeWidth) * points.devicePixels;
  colour = colours;
  gl_PointSize = 2.0 * radius + 1.0; // half a pixel around for the smooth edge
  gl_Position = radii > 0.0
    ? points.view * vec4(positions, 0.0, 1.0)
    : vec4(2.0, 2.0, 2.0, 1.0); // outside what is drawn
}
`;

const fragmentShader = /* glsl */ `\
#version 300 es
precision highp float;
in vec4 colour;
in float radius;
out vec4 fragColor;

void main(void) {
  float fromCentre = length(gl_PointCoord - 0.5) * (2.0 * radius + 1.0);
  float inside = clamp(radius + 0.5 - fromCentre, 0.0, 1.0);
  if (inside == 0.0) discard;
  float edgeWidth = points.edgeWidth * points.devicePixels;
  float onEdge = edgeWidth > 0.0 ? clamp(fromCentre - radius + edgeWidth + 0.5, 0.0, 1.0) : 0.0;
  fragColor = mix(colour, vec4(points.edge, 0.75 * colour.a), onEdge);
  fragColor.a *= inside * points.opacity;
}
`;

export class PointsLayer extends Layer<PointsProps> {
    static layerName = 'PointsLayer';
    static defaultProps = {};
    declare state: { model: Model; buffers: Record<keyof Points, Buffer> };

    getShaders() {
        return super.getShaders({ vs: vertexShader, fs: fragmentShader, modules: [pointsUniforms] });
    }

    initializeState(): void {
        const { device } = this.context;
        const { points } = this.props;
        const buffers = {
            positions: device.createBuffer({ data: points.positions }),
            colours: device.createBuffer({ data: points.colours }),
            radii: device.createBuffer({ data: points.radii }),
        };
        const model = new Model(device, {
            ...this.getShaders(),
            id: this.props.id,
            topology: 'point-list',
            parameters: { depthCompare: 'always', depthWriteEnabled: false },
            vertexCount: points.radii.length,
            bufferLayout: [
                { name: 'positions', format: 'float32x2' },
                { name: 'colours', format: 'unorm8x4' },
                { name: 'radii', format: 'float32' },
            ],
            attributes: buffers,
        });
        this.setState({ model, buffers });
    }

    updateState({ props, oldProps }: UpdateParameters<this>): void {
        const { buffers } = this.state;
        if (props.moves !== oldProps.moves) buffers.positions.write(props.points.positions);
        if (props.looks !== oldProps.looks) {
            buffers.colours.write(props.points.colours);
            buffers.radii.write(props.points.radii);
        }
    }

    finalizeState(): void {
        this.state.model.destroy();
        for (const buffer of Object.values(this.state.buffers)) buffer.destroy();
    }

    draw(): void {
        const { viewport, device } = this.context;
        const { edge, edgeWidth, crowd, points: drawn } = this.props;
        const devicePixels = device.canvasContext!.cssToDeviceRatio();
        const opacity = opacityOf(crowd, drawn.radii, viewport.scale);
        const points = { view: viewport.viewProjectionMatrix, edge, edgeWidth, devicePixels, opacity };
        this.state.model.shaderInputs.setProps({ points });
        this.state.model.draw(this.context.renderPass);
    }
}
