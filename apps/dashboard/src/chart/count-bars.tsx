import { Group, Text } from '@mantine/core';
import { useState, type CSSProperties, type PointerEvent, type ReactNode } from 'react';
import { count } from '../format/time.js';
import classes from './count-bars.module.css';

interface CountSeries {
  label: string;
  color: string;
  isStriped?: boolean;
  /** One per bucket. */
  counts: readonly number[];
}

interface CountBarsProps {
  label: string;
  /** One per bucket. */
  labels: readonly string[];
  series: readonly CountSeries[];
  /** Called with the buckets that were dragged over or clicked, from the first to the last. */
  onPick: (first: number, last: number) => void;
}

interface Drag {
  from: number;
  to: number;
}

/**
 * Counts stacked over time, low and light: no library of charts is loaded for them. It is for the eye and the pointer; what
 * shows it also has a table, which picks by the keyboard.
 */
export default function CountBars({ label, labels, series, onPick }: CountBarsProps): ReactNode {
  const [drag, setDrag] = useState<Drag | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const tops = labels.map((_, at) => series.reduce((sum, { counts }) => sum + counts[at], 0));
  const top = Math.max(1, ...tops);
  const shown = drag ?? (over === null ? null : { from: over, to: over });
  const bucketAt = ({ currentTarget, clientX }: PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const at = Math.floor(((clientX - left) / Math.max(1, width)) * labels.length);
    return Math.max(0, Math.min(at, labels.length - 1));
  };
  const begin = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    // What is dragged past the edge still ends here.
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ from: bucketAt(event), to: bucketAt(event) });
  };
  const move = (event: PointerEvent): void => {
    setOver(bucketAt(event));
    if (drag !== null) setDrag({ ...drag, to: bucketAt(event) });
  };
  const end = (event: PointerEvent): void => {
    setDrag(null);
    if (drag !== null) onPick(...inOrder({ ...drag, to: bucketAt(event) }));
  };
  return (
    <figure aria-label={label} style={NO_MARGIN}>
      <Legend series={series} readout={shown === null ? null : readoutOf(labels, tops, shown)} />
      <div
        aria-hidden
        className={classes.plot}
        onPointerDown={begin}
        onPointerMove={move}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => setOver(null)}
      >
        {labels.map((_, at) => (
          <div key={at} className={classes.bucket}>
            {series.map(({ label: name, counts, ...look }) =>
              counts[at] === 0 ? null : (
                <div
                  key={name}
                  className={look.isStriped ? `${classes.piece} ${classes.striped}` : classes.piece}
                  style={{ height: `${(counts[at] / top) * 100}%`, backgroundColor: look.color }}
                />
              ),
            )}
          </div>
        ))}
        {drag !== null && <div className={classes.picked} style={placeOf(drag, labels.length)} />}
      </div>
      <Group justify="space-between" wrap="nowrap" mt={4} aria-hidden>
        {ticksOf(labels).map((tick, at) => (
          <Text key={at} size="xs" c="dimmed" className={classes.axis}>
            {tick}
          </Text>
        ))}
      </Group>
    </figure>
  );
}

const NO_MARGIN = { margin: 0 } as const;

function Legend({ series, readout }: { series: readonly CountSeries[]; readout: string | null }): ReactNode {
  return (
    <Group justify="space-between" mb="xs" gap="md">
      <Group gap="md">
        {series.map(({ label, color, isStriped, counts }) => (
          <Group key={label} gap={6} wrap="nowrap">
            <div
              className={isStriped ? `${classes.swatch} ${classes.striped}` : classes.swatch}
              style={{ backgroundColor: color }}
            />
            <Text size="sm">
              {label} {count(counts.reduce((sum, one) => sum + one, 0))}
            </Text>
          </Group>
        ))}
      </Group>
      <Text size="sm" c="dimmed" aria-hidden className={classes.axis}>
        {readout ?? 'Drag over the bars to pick a range'}
      </Text>
    </Group>
  );
}

function inOrder({ from, to }: Drag): [first: number, last: number] {
  return [Math.min(from, to), Math.max(from, to)];
}

function readoutOf(labels: readonly string[], tops: readonly number[], drag: Drag): string {
  const [first, last] = inOrder(drag);
  const sum = tops.slice(first, last + 1).reduce((total, one) => total + one, 0);
  const names = first === last ? labels[first] : `${labels[first]} – ${labels[last]}`;
  return `${names}: ${count(sum)}`;
}

function placeOf(drag: Drag, buckets: number): CSSProperties {
  const [first, last] = inOrder(drag);
  return { left: `${(first / buckets) * 100}%`, width: `${((last - first + 1) / buckets) * 100}%` };
}

/** The ends of the axis, and its middle where there is one. */
function ticksOf(labels: readonly string[]): string[] {
  const middle = Math.floor(labels.length / 2);
  const at = labels.length < 3 ? labels.map((_, index) => index) : [0, middle, labels.length - 1];
  return at.map((index) => labels[index]);
}
