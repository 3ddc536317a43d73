import { Button, Group, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, type CSSProperties, type ReactNode } from 'react';
import type { Column } from './data-table.js';
import classes from './virtual-table.module.css';

interface VirtualTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Rows on the server. */
  total: number;
  /** Reads the next page; null where there is none. */
  more: (() => void) | null;
  isLoadingMore: boolean;
}

const ROW_PX = 44;
const WIDTH_PX = 120;
const GAP_PX = 16;
const OVERSCAN = 8;

/** A long table of which only the rows in view are in the document. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>): ReactNode {
  const { label, columns, rows, rowKey, total, more, isLoadingMore } = props;
  const box = useRef<HTMLDivElement>(null);
  const rowsInView = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: (index) => rowKey(rows[index]),
  });
  // Rows are laid out one by one: only widths that no content changes keep their columns below each other.
  const widths = columns.map(({ width = WIDTH_PX }) => width);
  const grid: CSSProperties = {
    gridTemplateColumns: widths.map((width) => `minmax(0, ${width}fr)`).join(' '),
    minWidth: widths.reduce((sum, width) => sum + width, 0) + widths.length * GAP_PX + GAP_PX,
  };
  return (
    <>
      <div
        ref={box}
        className={classes.box}
        tabIndex={0}
        role="table"
        aria-label={label}
        aria-rowcount={total + 1}
      >
        <div className={classes.head} style={grid} role="row" aria-rowindex={1}>
          {columns.map(({ name, isFigure }) => (
            <div key={name} role="columnheader" className={isFigure ? classes.figure : undefined}>
              {name}
            </div>
          ))}
        </div>
        <div
          className={classes.rows}
          style={{ height: rowsInView.getTotalSize(), minWidth: grid.minWidth }}
          role="rowgroup"
        >
          {rowsInView.getVirtualItems().map(({ key, index, start, size }) => (
            <div
              key={key}
              className={classes.row}
              style={{ ...grid, height: size, transform: `translateY(${start}px)` }}
              role="row"
              aria-rowindex={index + 2}
            >
              {columns.map(({ name, cell, isFigure }) => (
                <div key={name} role="cell" className={isFigure ? classes.figure : classes.cell}>
                  {cell(rows[index])}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
      <Group justify="space-between" mt="sm">
        <Text size="sm" c="dimmed">
          {rows.length.toLocaleString('en-US')} of {total.toLocaleString('en-US')}
        </Text>
        {more !== null && (
          <Button variant="default" size="xs" loading={isLoadingMore} onClick={more}>
            Show more
          </Button>
        )}
      </Group>
    </>
  );
}
