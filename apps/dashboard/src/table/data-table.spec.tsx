/** @jest-environment jsdom */
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { rendered } from '../shell/rendered.fixture.js';
import { DataTable, type Column } from './data-table.js';

const COLUMNS: Column<string>[] = [
  { name: 'Key', cell: (row) => row, sort: 'label' },
  { name: 'Owner', cell: () => 'Mara' },
];
const asked: (string | null)[] = [];
const show = (by: string | undefined): void => {
  const order = { by, onChange: (next: string | null) => void asked.push(next) };
  rendered(<DataTable label="Keys" columns={COLUMNS} rows={['a']} rowKey={String} order={order} />);
};

describe('a table that the server sorts', () => {
  afterEach(() => {
    cleanup();
    asked.length = 0;
  });

  it.each([
    [undefined, 'none', '-label'],
    ['-label', 'descending', 'label'],
    ['label', 'ascending', null],
    ['-spent', 'none', '-label'],
  ])('in the order %s a head says %s, and asks for %s next', (by, said, next) => {
    show(by);
    expect(screen.getByRole('columnheader', { name: 'Key' }).getAttribute('aria-sort')).toBe(said);
    fireEvent.click(screen.getByRole('button', { name: 'Key' }));
    expect(asked).toEqual([next]);
  });

  it('a column that the server does not sort has no button', () => {
    show(undefined);
    expect(screen.getByRole('columnheader', { name: 'Owner' }).hasAttribute('aria-sort')).toBe(false);
    expect(screen.queryByRole('button', { name: 'Owner' })).toBeNull();
  });
});
