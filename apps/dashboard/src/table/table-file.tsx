import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { cellsOf } from './cells.js';
import { csvOf } from './csv.js';
import classes from './data-table.module.css';
import { download } from './download.js';

interface TableFileProps {
  /** Name of the table, which the file has too. */
  label: string;
  /** Hands out the table with all its rows. */
  read: (read: (table: HTMLElement) => void) => void;
}

/** Button that writes a table as it is shown to a file. */
export function TableFile({ label, read }: TableFileProps): ReactNode {
  const write = (table: HTMLElement): void => {
    const { head, rows } = cellsOf(table);
    download(`${label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.csv`, csvOf(head, rows));
  };
  return (
    <Button
      className={classes.file}
      size="compact-xs"
      variant="subtle"
      color="gray"
      leftSection={<IconDownload size={12} />}
      onClick={() => read(write)}
    >
      Table as CSV
    </Button>
  );
}
