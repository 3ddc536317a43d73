import { useElementSize } from '@mantine/hooks';
import { nice, ticks } from 'd3-array';
import { useState, type MouseEvent, type ReactNode } from 'react';
import { namesShown } from './names-shown.js';
import classes from './plot.module.css';

const HEIGHT = 260;
const LEFT = 72;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 28;
const LINES = 4;
/** Width until the real one is known. */
const FIRST_WIDTH = 720;

/** One line of the box beside a bucket. */
interface Reading {
  label: string;
  color: string;
  height: number;
}

/** Places of the plot, in pixels. */
export interface Scale {
  /** Width of a bucket. */
  band: number;
  /** Returns the middle of a bucket. */
  x: (bucket: number) => number;
  y: (height: number) => number;
}

interface PlotProps {
  label: string;
  /** One label per bucket. */
  labels: readonly string[];
  /** The highest place that is drawn. */
  top: number;
  format: (height: number, top?: number) => string;
  /** Returns what a bucket has, the highest first, and what stands below it. */
  readingsOf: (bucket: number) => { readings: readonly Reading[]; total: number | null };
  draw: (scale: Scale) => ReactNode;
}

/** Axes of a chart over time, and the box that says what is under the pointer. */
export function Plot({ label, labels, top, format, readingsOf, draw }: PlotProps): ReactNode {
  const { ref, width: measured } = useElementSize();
  const [over, setOver] = useState<number | null>(null);
  const width = measured === 0 ? FIRST_WIDTH : measured;
  const [, end] = nice(0, top, LINES);
  const band = Math.max(1, width - LEFT - RIGHT) / Math.max(1, labels.length);
  const scale: Scale = {
    band,
    x: (bucket) => LEFT + (bucket + 0.5) * band,
    y: (height) => TOP + (1 - height / end) * (HEIGHT - TOP - BOTTOM),
  };
  const move = ({ currentTarget, clientX }: MouseEvent): void => {
    const at = Math.floor((clientX - currentTarget.getBoundingClientRect().left - LEFT) / band);
    setOver(at >= 0 && at < labels.length ? at : null);
  };
  const names = namesShown(labels, band);
  return (
    <figure aria-label={label} style={NO_MARGIN}>
      <div
        ref={ref}
        aria-hidden
        className={classes.plot}
        onMouseDown={keepFocus}
        onMouseMove={move}
        onMouseLeave={() => setOver(null)}
      >
        <svg width={width} height={HEIGHT}>
          {ticks(0, end, LINES).map((height) => (
            <g key={height}>
              <line
                className={classes.grid}
                x1={LEFT}
                x2={width - RIGHT}
                y1={scale.y(height)}
                y2={scale.y(height)}
              />
              <text className={classes.axis} x={LEFT - 10} y={scale.y(height)} dy="0.32em" textAnchor="end">
                {format(height, end)}
              </text>
            </g>
          ))}
          {names.map((at) => (
            <text key={at} className={classes.axis} x={scale.x(at)} y={HEIGHT - 8} textAnchor="middle">
              {labels[at]}
            </text>
          ))}
          {over !== null && (
            <rect
              className={classes.over}
              x={scale.x(over) - band / 2}
              y={TOP}
              width={band}
              height={HEIGHT - TOP - BOTTOM}
            />
          )}
          {draw(scale)}
        </svg>
        {over !== null && (
          <Readout
            name={labels[over]}
            {...readingsOf(over)}
            format={format}
            style={besideOf(scale.x(over), band, width)}
          />
        )}
      </div>
    </figure>
  );
}

const NO_MARGIN = { margin: 0 } as const;

/** A link that is pressed takes the focus, which is lost to what is hidden from screen readers. */
function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

/** Returns a place beside a bucket, on the side that has more room: what is read is not covered. */
function besideOf(x: number, band: number, width: number): { left: number } | { right: number } {
  const away = Math.min(band, 40) / 2 + 8;
  return x < width / 2 ? { left: x + away } : { right: width - x + away };
}

interface ReadoutProps {
  name: string;
  readings: readonly Reading[];
  total: number | null;
  format: (height: number) => string;
  style: { left: number } | { right: number };
}

function Readout({ name, readings, total, format, style }: ReadoutProps): ReactNode {
  return (
    <div className={classes.readout} style={style}>
      <b>{name}</b>
      {readings.map(({ label, color, height }, at) => (
        <div key={at} className={classes.line}>
          <span className={classes.swatch} style={{ backgroundColor: color }} />
          <span>{label}</span>
          <span>{format(height)}</span>
        </div>
      ))}
      {total !== null && (
        <div className={classes.line}>
          <span />
          <b>Total</b>
          <b>{format(total)}</b>
        </div>
      )}
    </div>
  );
}
