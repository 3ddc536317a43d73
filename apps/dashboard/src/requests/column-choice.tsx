import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { IconColumns } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useParamsOfUrl } from '../shell/search-params.js';
import { chosenColumns, columnsText } from './chosen-columns.js';
import { eventColumns } from './event-columns.js';

const NAMES = eventColumns('').map(({ name }) => name);

export function ColumnChoice(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const chosen = chosenColumns(url.columns, NAMES);
  return (
    <Popover position="bottom-end" trapFocus withArrow>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns size={16} />} px="sm">
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Checkbox.Group
          label="Columns"
          value={[...chosen]}
          onChange={(names) => change({ columns: columnsText(names, NAMES) })}
        >
          <Stack gap="xs" mt="xs">
            {NAMES.map((name) => (
              <Checkbox
                key={name}
                value={name}
                label={name}
                disabled={chosen.size === 1 && chosen.has(name)}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  );
}
