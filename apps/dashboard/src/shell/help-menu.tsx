import { ActionIcon, Menu } from '@mantine/core';
import { IconBook2, IconHelp, IconKeyboard, IconRocket } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useOrg } from './org.queries.js';

const KeyboardHelp = lazy(() => import('./keyboard-help.js'));

/** Menu with the reference of the API, the first request and the keys of the keyboard. */
export default function HelpMenu(): ReactNode {
  const { slug } = useOrg();
  const [isKeyboard, setKeyboard] = useState(false);
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Help">
            <IconHelp size={20} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component="a"
            href="/docs"
            target="_blank"
            rel="noreferrer"
            leftSection={<IconBook2 size={16} />}
          >
            API reference
          </Menu.Item>
          <Menu.Item component={Link} to={`/o/${slug}/start`} leftSection={<IconRocket size={16} />}>
            First request
          </Menu.Item>
          <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={() => setKeyboard(true)}>
            Keyboard shortcuts
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>{isKeyboard && <KeyboardHelp onClose={() => setKeyboard(false)} />}</Suspense>
    </>
  );
}
