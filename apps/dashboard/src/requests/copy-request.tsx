import { Button, Group, Menu, Text } from '@mantine/core';
import { IconChevronDown, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useCopy } from '../shell/copy-text.js';
import { requestCode } from '../shell/request-code.js';
import type { Lookup } from './requests.queries.js';

interface CopyRequestProps {
  request: Lookup;
  /** Body of the request where it is logged and was shown. */
  body: unknown;
}

const SAID = { ready: '', copied: 'Copied', refused: 'The browser refused to copy.' } as const;

/** Menu that copies a request as code, its record as JSON, or its link. */
export function CopyRequest({ request, body }: CopyRequestProps): ReactNode {
  const [state, copy] = useCopy();
  const code = requestCode(location.origin, request, body ?? undefined);
  const items: [string, string][] = [
    ...(code === null
      ? []
      : ([
          ['As curl', code.curl],
          ['As Python', code.python],
          ['As TypeScript', code.typescript],
        ] satisfies [string, string][])),
    ['Record as JSON', JSON.stringify(request, null, 2)],
    ['Link', location.href],
  ];
  return (
    <Group gap="xs">
      <Text span size="sm" role="status" c="dimmed">
        {SAID[state]}
      </Text>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<IconCopy size={16} />}
            rightSection={<IconChevronDown size={14} />}
          >
            Copy
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {items.map(([name, text]) => (
            <Menu.Item key={name} onClick={() => copy(text)}>
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
