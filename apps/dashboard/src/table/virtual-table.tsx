import { Button, Group, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type CSSProperties, type MouseEvent, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import type { Column } from './data-table.js';
import { directionOf, SortHead, type Order } from './sort-head.js';
import { TableFile } from './table-file.js';
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
  /** Order of the rows and how it is changed; absent where no column sorts. */
  order?: Order;
}

const ROW_PX = 44;
/** A row as a card has its cells in two columns, each below its name. */
const CARD_LINE_PX = 44;
const CARD_EDGE_PX = 20;
const NARROW = '(max-width: 639px)';
const WIDTH_PX = 120;
const GAP_PX = 16;
const OVERSCAN = 8;

/** A long table of which only the rows in view are in the document. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>): ReactNode {
  const { label, columns, rows, rowKey, total, order } = props;
  const box = useRef<HTMLDivElement>(null);
  const isNarrow = useMediaQuery(NARROW, window.matchMedia(NARROW).matches) ?? false;
  const cardPx = Math.ceil(columns.length / 2) * CARD_LINE_PX + CARD_EDGE_PX;
  const rowsInView = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (isNarrow ? cardPx : ROW_PX),
    overscan: OVERSCAN,
    getItemKey: (index) => rowKey(rows[index]),
  });
  useEffect(() => rowsInView.measure(), [rowsInView, isNarrow]);
  const grid = isNarrow ? {} : gridOf(columns);
  // All rows are in the document for as long as a file is written of them.
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole
    ? rows.map((row, index) => placeOf(rowKey(row), index))
    : rowsInView.getVirtualItems();
  const readWhole = (read: (table: HTMLElement) => void): void => {
    flushSync(() => setWhole(true));
    if (box.current !== null) read(box.current);
    setWhole(false);
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
        <Head columns={columns} grid={grid} isNarrow={isNarrow} order={order} />
        <div
          className={classes.rows}
          style={{ height: rowsInView.getTotalSize(), minWidth: grid.minWidth }}
          role="rowgroup"
          onClick={openRow}
        >
          {shown.map(({ key, index, start, size }) => (
            <div
              key={key}
              className={isNarrow ? classes.card : classes.row}
              style={{ ...grid, height: size, transform: `translateY(${start}px)` }}
              role="row"
              aria-rowindex={index + 2}
            >
              <Cells columns={columns} row={rows[index]} isNarrow={isNarrow} />
            </div>
          ))}
        </div>
      </div>
      <More {...props} />
      <TableFile label={label} read={readWhole} />
    </>
  );
}

/** Follows the link of a row that is pressed beside it; the keyboard has the link itself. Figures and text that is marked are there to be copied. */
function openRow({ target }: MouseEvent): void {
  if (!(target instanceof Element) || target.closest('a, button, input, [data-exact]') !== null) return;
  if (document.getSelection()?.isCollapsed === false) return;
  target.closest('[role="row"]')?.querySelector<HTMLElement>('a[data-row]')?.click();
}

/** Place of a row that is read and not seen. */
function placeOf(key: string, index: number) {
  return { key, index, start: 0, size: ROW_PX };
}

/** Rows are laid out one by one: only widths that no content changes keep their columns below each other. */
function gridOf<Row>(columns: readonly Column<Row>[]): CSSProperties {
  const widths = columns.map(({ width = WIDTH_PX }) => width);
  return {
    gridTemplateColumns: widths.map((width) => `minmax(0, ${width}fr)`).join(' '),
    minWidth: widths.reduce((sum, width) => sum + width, 0) + widths.length * GAP_PX + GAP_PX,
  };
}

interface HeadProps<Row> {
  columns: readonly Column<Row>[];
  grid: CSSProperties;
  isNarrow: boolean;
  order: Order | undefined;
}

function Head<Row>({ columns, grid, isNarrow, order }: HeadProps<Row>): ReactNode {
  return (
    <div className={isNarrow ? classes.hidden : classes.head} style={grid} role="row" aria-rowindex={1}>
      {columns.map(({ name, isFigure, sort }) => (
        <div
          key={name}
          role="columnheader"
          aria-sort={sort === undefined || order === undefined ? undefined : directionOf(sort, order)}
          className={isFigure ? classes.figure : undefined}
        >
          {sort === undefined || order === undefined ? (
            name
          ) : (
            <SortHead name={name} sort={sort} order={order} />
          )}
        </div>
      ))}
    </div>
  );
}

interface CellsProps<Row> {
  columns: readonly Column<Row>[];
  row: Row;
  isNarrow: boolean;
}

function Cells<Row>({ columns, row, isNarrow }: CellsProps<Row>): ReactNode {
  return columns.map(({ name, cell, isFigure }) => (
    <div
      key={name}
      role="cell"
      data-label={name}
      className={isFigure && !isNarrow ? classes.figure : classes.cell}
    >
      {cell(row)}
    </div>
  ));
}

function More<Row>({ rows, total, more, isLoadingMore }: VirtualTableProps<Row>): ReactNode {
  return (
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
  );
}
