// A chart of lines over time or steps, drawn by uPlot. Pages with charts are loaded when they are opened, and uPlot with them.

import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from './theme.ts';
import { timeRange } from './time-range.ts';

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Index in the palette; also chooses the dash of a line that repeats a colour. */
  readonly colour?: number;
  /** An edge of a band: drawn thin. */
  readonly isEdge?: boolean;
  /** The area from this line down to another one is filled: its index. */
  readonly bandTo?: number;
}

interface ChartProps {
  /** What it shows, for those who do not see it. */
  readonly label: string;
  readonly xs: readonly number[];
  readonly lines: readonly ChartLine[];
  /** `time` and `clock`: xs are seconds since 1970; a clock shows the last minutes. */
  readonly axis: 'time' | 'clock' | 'step';
  readonly height?: number;
  readonly format?: (value: number) => string;
  /** Highest value of the y axis; without it the axis follows the values. */
  readonly yMax?: number;
  /** Places on the x axis that are marked. */
  readonly marks?: readonly number[];
}

/** Distinct in both themes, also for people who cannot distinguish red from green. */
const PALETTE = {
  light: ['#2b5f96', '#b35c00', '#00806a', '#8b3fa0'],
  dark: ['#7db0e6', '#f0a35c', '#4fc9ae', '#cf9be0'],
};

/** Distances of ticks between steps, which are whole. */
const WHOLE_STEPS = [1, 10, 100, 1_000, 10_000, 100_000].flatMap(power => [power, 2 * power, 5 * power]);

const AXES: Readonly<Record<ChartProps['axis'], uPlot.Axis>> = {
  step: { incrs: WHOLE_STEPS },
  time: {},
  // uPlot's own labels begin with a date, which is wider than a tick on a narrow screen.
  clock: {
    space: 64,
    values: (_, ticks) => ticks.map(tick => new Date(tick * 1000).toLocaleTimeString([], { hour12: false })),
  },
};

const NO_MARKS: readonly number[] = [];

export function Chart({
  label,
  xs,
  lines,
  axis,
  height = 150,
  format = String,
  yMax,
  marks = NO_MARKS,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shownMarks = useRef(marks);
  const theme = useTheme();
  shownMarks.current = marks;
  const shape = JSON.stringify([
    theme,
    axis,
    height,
    lines.map(line => [line.label, line.colour, line.isEdge, line.bandTo]),
  ]);

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const styles = getComputedStyle(document.documentElement);
    const muted = styles.getPropertyValue('--muted');
    const border = styles.getPropertyValue('--border');
    const palette = PALETTE[theme];
    const colourOf = (line: ChartLine, index: number) => palette[(line.colour ?? index) % palette.length]!;
    const axisLook = {
      stroke: muted,
      grid: { stroke: border, width: 1 },
      ticks: { stroke: border, width: 1 },
      font: '11px sans-serif',
    };
    const created = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        scales: {
          x:
            axis === 'step' ? { time: false } : { time: true, range: ({ data }) => timeRange(data[0], axis) },
          // From 0, so that heights compare.
          y: {
            range: (_, low, high) => [Math.min(0, low ?? 0), yMax ?? ((high ?? 0) > 0 ? high * 1.08 : 1)],
          },
        },
        legend: { live: true },
        cursor: { points: { size: 5 } },
        axes: [
          { ...axisLook, ...AXES[axis] },
          { ...axisLook, size: 56, values: (_, ticks) => ticks.map(format) },
        ],
        series: [
          { label: axis === 'step' ? 'step' : 'time' },
          ...lines.map((line, index) => ({
            label: line.label,
            stroke: colourOf(line, index),
            width: line.isEdge === true ? 0.5 : 1.5,
            // Of days where they are far apart, so that one alone is seen.
            points: axis === 'time' ? {} : { show: axis === 'step' && line.isEdge !== true },
            value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
        bands: lines.flatMap((line, index) =>
          line.bandTo === undefined
            ? []
            : [
                {
                  series: [index + 1, line.bandTo + 1] as uPlot.Band.Bounds,
                  fill: `${colourOf(line, index)}22`,
                },
              ],
        ),
        hooks: {
          draw: [
            ({ ctx, bbox, valToPos }) => {
              ctx.save();
              ctx.strokeStyle = muted;
              ctx.setLineDash([3, 3]);
              for (const mark of shownMarks.current) {
                const x = Math.round(valToPos(mark, 'x', true));
                ctx.beginPath();
                ctx.moveTo(x, bbox.top);
                ctx.lineTo(x, bbox.top + bbox.height);
                ctx.stroke();
              }
              ctx.restore();
            },
          ],
        },
      },
      [[], ...lines.map(() => [])] as uPlot.AlignedData,
      element,
    );
    plot.current = created;
    const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    plot.current?.setData([[...xs], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData);
  }, [xs, lines, shape]);

  useEffect(() => {
    // They may come after the lines.
    void marks;
    plot.current?.redraw(false);
  }, [marks]);

  const last = lines
    .filter(({ isEdge }) => isEdge !== true)
    .map(line => `${line.label} ${line.values.at(-1) == null ? 'unknown' : format(line.values.at(-1)!)}`);
  return (
    <div
      ref={holder}
      role="img"
      aria-label={`${label}. Last: ${last.join(', ')}.`}
      className="min-w-0 text-xs wrap-anywhere"
    />
  );
}
