import { ActionIcon, AppShell, Burger, Group, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { Link, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import type { Me, Role } from '../session/rights.js';
import { BelowBanner } from './below-banner.js';
import { Keyboard } from './keyboard.js';
import { Mark } from './mark.js';
import { Navigation } from './navigation.js';
import { SectionTabs } from './section-tabs.js';
import { useOrg } from './org.queries.js';
import classes from './frame.module.css';

// Not of the first load: the page is whole without them.
const Bell = lazy(() => import('./bell.js'));
const HelpMenu = lazy(() => import('./help-menu.js'));
const SchemeSwitch = lazy(() => import('./scheme-switch.js'));
const OrgSwitch = lazy(() => import('./org-switch.js'));
const PersonMenu = lazy(() => import('./person-menu.js'));
const UndoBar = lazy(() => import('./undo.js'));
const ZoneQuestion = lazy(() => import('./zone-question.js'));

/** Header, navigation and the page. A drawer below 768 px. */
export function Frame({ me, roles, children }: { me: Me; roles: Role[]; children: ReactNode }): ReactNode {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', md: 'xl' }}
      transitionDuration={0}
    >
      <a className={classes.skip} href="#main">
        Skip to the content
      </a>
      <AppShell.Header className={classes.screen}>
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
            <Brand />
            <Suspense>
              <OrgSwitch me={me} />
            </Suspense>
          </Group>
          <Group gap={6} wrap="nowrap">
            <GoTo open={() => setPaletteOpen(true)} />
            <Group gap={6} wrap="nowrap" className={classes.later}>
              <Suspense>
                <Bell roles={roles} />
                <HelpMenu />
                <SchemeSwitch />
                <PersonMenu me={me} />
              </Suspense>
            </Group>
          </Group>
        </Group>
      </AppShell.Header>
      <Keyboard roles={roles} isPaletteOpen={isPaletteOpen} setPaletteOpen={setPaletteOpen} />
      <AppShell.Navbar aria-label="Pages" className={classes.screen}>
        <div className={classes.pages} tabIndex={0} role="group" aria-label="Pages">
          <Navigation roles={roles} />
        </div>
      </AppShell.Navbar>
      <AppShell.Main id="main" className={classes.main}>
        <div className={classes.page}>
          <SectionTabs roles={roles} />
          <BelowBanner>{children}</BelowBanner>
        </div>
        <Suspense>
          <UndoBar />
          <ZoneQuestion me={me} />
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
}

function Brand(): ReactNode {
  const { slug } = useOrg();
  return (
    <UnstyledButton
      component={Link}
      to={`/o/${slug}`}
      visibleFrom="sm"
      aria-label="Model Gateway, home"
      display="flex"
    >
      <Group gap={8} wrap="nowrap">
        <Mark />
        <Text fw={700} size="sm" style={{ whiteSpace: 'nowrap' }}>
          Model Gateway
        </Text>
      </Group>
    </UnstyledButton>
  );
}

/** Button of the palette: a search box, and an icon where there is no place for one. */
function GoTo({ open }: { open: () => void }): ReactNode {
  return (
    <>
      <UnstyledButton className={classes.search} visibleFrom="sm" onClick={open}>
        <IconSearch size={16} aria-hidden />
        <span>Search or run</span>
        <kbd>Ctrl K</kbd>
      </UnstyledButton>
      <ActionIcon
        hiddenFrom="sm"
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Search or run"
        onClick={open}
      >
        <IconSearch size={18} />
      </ActionIcon>
    </>
  );
}
