import { AppShell, Burger, Group, ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import type { Me, Role } from '../session/rights.js';
import { Navigation } from './navigation.js';
import { OrgSwitch } from './org-switch.js';
import { PersonMenu } from './person-menu.js';
import { SchemeSwitch } from './scheme-switch.js';
import { useOrg } from './org.queries.js';
import classes from './frame.module.css';

/** Header, navigation and the page. A drawer below 768 px. */
export function Frame({ me, roles, children }: { me: Me; roles: Role[]; children: ReactNode }): ReactNode {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const org = useOrg();
  useEffect(close, [pathname, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <a className={classes.skip} href="#main">
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" style={{ minWidth: 0 }}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
              aria-expanded={isOpen}
            />
            <UnstyledButton
              component={Link}
              to={`/o/${org.slug}`}
              visibleFrom="sm"
              aria-label="Model Gateway, home"
            >
              <Text fw={700} size="sm" style={{ whiteSpace: 'nowrap' }}>
                Model Gateway
              </Text>
            </UnstyledButton>
            <OrgSwitch me={me} />
          </Group>
          <Group gap={6} wrap="nowrap">
            <SchemeSwitch />
            <PersonMenu me={me} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages">
        <ScrollArea type="auto" style={{ flex: 1 }} viewportProps={{ tabIndex: 0, 'aria-label': 'Pages' }}>
          <Navigation roles={roles} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <div className={classes.page}>{children}</div>
      </AppShell.Main>
    </AppShell>
  );
}
