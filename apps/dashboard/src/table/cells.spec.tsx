/** @jest-environment jsdom */
import { Button, Stack, Text } from '@mantine/core';
import { cleanup, fireEvent } from '@testing-library/react';
import { Money } from '../shell/money.js';
import { rendered } from '../shell/rendered.fixture.js';
import { cellsOf } from './cells.js';
import { csvOf } from './csv.js';
import { DataTable, type Column } from './data-table.js';
import { VirtualTable } from './virtual-table.js';

interface Row {
  label: string;
  usd: string | null;
}

const COLUMNS: Column<Row>[] = [
  {
    name: 'Key',
    sort: 'label',
    cell: ({ label }) => (
      <Stack>
        <Text>{label}</Text>
        <Text>rsk_1</Text>
      </Stack>
    ),
  },
  { name: 'Spent', cell: ({ usd }) => <Money usd={usd} none="no cap" /> },
  { name: 'Requests', cell: () => '12,345' },
  { name: 'Rate', cell: () => '-$1,000.25' },
  { name: 'Since', cell: () => <time dateTime="2026-11-01T00:00:00.000Z">27 days ago</time> },
  { name: 'Latency', cell: () => '–' },
  { name: 'Change', cell: () => <Button>Edit</Button> },
];
const ROWS: Row[] = [
  { label: '=cmd', usd: '-0.000172000001' },
  { label: 'b', usd: null },
];
const WANTED = [
  'Key,Spent,Requests,Rate,Since,Latency',
  "'=cmd rsk_1,-0.000172000001,12345,-1000.25,2026-11-01T00:00:00.000Z,",
  'b rsk_1,no cap,12345,-1000.25,2026-11-01T00:00:00.000Z,',
  '',
].join('\r\n');

/** Returns the files that the download buttons of the document write. */
async function files(press: () => void): Promise<string[]> {
  const blobs: Blob[] = [];
  const before = [URL.createObjectURL, URL.revokeObjectURL] as const;
  URL.createObjectURL = (blob) => `blob:${blobs.push(blob as Blob)}`;
  URL.revokeObjectURL = () => undefined;
  HTMLAnchorElement.prototype.click = () => undefined;
  press();
  [URL.createObjectURL, URL.revokeObjectURL] = before;
  return Promise.all(blobs.map((blob) => textOf(blob)));
}

function textOf(blob: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsText(blob);
  });
}

describe('a table on the screen as a file', () => {
  afterEach(cleanup);

  it('has amounts and times exactly, figures without signs, and no column of buttons', () => {
    const { getByRole } = rendered(
      <DataTable label="Keys" columns={COLUMNS} rows={ROWS} rowKey={({ label }) => label} />,
    );
    const { head, rows } = cellsOf(getByRole('table'));
    expect(csvOf(head, rows)).toBe(WANTED);
  });

  it('is written by the button of each table, of a long one with the rows that are out of view', async () => {
    const rowKey = ({ label }: Row): string => label;
    const { getAllByRole } = rendered(
      <>
        <DataTable label="Keys" columns={COLUMNS} rows={ROWS} rowKey={rowKey} />
        <VirtualTable
          label="Requests"
          columns={COLUMNS}
          rows={ROWS}
          rowKey={rowKey}
          total={2}
          more={null}
          isLoadingMore={false}
        />
      </>,
    );
    const buttons = getAllByRole('button', { name: 'Table as CSV' });
    expect(await files(() => buttons.forEach((button) => fireEvent.click(button)))).toEqual([WANTED, WANTED]);
  });
});
