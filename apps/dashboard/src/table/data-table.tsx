import { Group, Pagination, Table, Text } from '@mantine/core';
import { useRef, type ReactNode } from 'react';
import classes from './data-table.module.css';
import { directionOf, SortHead, type Order } from './sort-head.js';
import { TableFile } from './table-file.js';

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ReactNode;
  /** Figures stand at the right, in digits of one width. */
  isFigure?: boolean;
  /** Stands before what the row is about, so a card says its name, too. */
  isControl?: boolean;
  width?: number;
  /** Field by which the server sorts the rows; absent where it does not. */
  sort?: string;
}

interface DataTableProps<Row> {
  /** Text for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  minWidth?: number;
  /** Order of the rows and how it is changed; absent where no column sorts. */
  order?: Order;
  /** False where the page writes a fuller file. */
  hasFile?: boolean;
}

/** A table that scrolls inside its box, by the keyboard too; on a phone each row is a card, whose roles are said anew. */
export function DataTable<Row>(props: DataTableProps<Row>): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const { label, hasFile = true } = props;
  return (
    <div>
      <div ref={box} className={classes.box} tabIndex={0} role="region" aria-label={label}>
        <Shown {...props} />
      </div>
      {hasFile && <TableFile label={label} read={(read) => box.current !== null && read(box.current)} />}
    </div>
  );
}

function Shown<Row>(props: DataTableProps<Row>): ReactNode {
  const { label, columns, rows, rowKey, minWidth = 640, order } = props;
  return (
    <Table
      highlightOnHover
      verticalSpacing={2}
      horizontalSpacing="sm"
      role="table"
      aria-label={label}
      className={classes.table}
      style={{ '--table-min-width': `${minWidth}px` }}
    >
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {columns.map(({ name, isFigure, width, sort }) => (
            <Table.Th
              key={name}
              role="columnheader"
              aria-sort={sort === undefined ? undefined : directionOf(sort, order)}
              w={width}
              ta={isFigure ? 'right' : 'left'}
              className={classes.head}
            >
              {sort === undefined || order === undefined ? (
                name
              ) : (
                <SortHead name={name} sort={sort} order={order} />
              )}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {rows.map((row) => (
          <Table.Tr key={rowKey(row)} role="row">
            {columns.map(({ name, cell, isFigure, isControl }) => (
              <Table.Td
                key={name}
                role="cell"
                data-label={name}
                className={isFigure ? classes.figure : isControl ? classes.control : undefined}
              >
                {cell(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface PagerProps {
  page: number;
  rows: number;
  total: number;
  onChange: (page: number) => void;
}

/** Pages count from 1. Nothing where one page holds all. */
export function Pager({ page, rows, total, onChange }: PagerProps): ReactNode {
  const pages = Math.max(1, Math.ceil(total / rows));
  return (
    <Group justify="space-between" mt="sm">
      <Text size="sm" c="dimmed">
        {total === 0
          ? 'None'
          : `${(page - 1) * rows + 1} to ${Math.min(page * rows, total)} of ${total.toLocaleString('en-US')}`}
      </Text>
      {pages > 1 && (
        <Pagination
          size="sm"
          value={page}
          total={pages}
          onChange={onChange}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
        />
      )}
    </Group>
  );
}

/** The page that the URL names; what is no page is the first. */
export function pageOf(text: string | undefined): number {
  const page = Number(text ?? '1');
  return Number.isInteger(page) && page > 0 ? page : 1;
}
