/** @jest-environment jsdom */
import { DEFAULT_THEME, luminance, MantineProvider, Menu, mergeMantineTheme, Modal } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { rendered } from './shell/rendered.fixture.js';
import { cssVariables, theme } from './theme.js';

function open(children: ReactNode): void {
  // What jsdom lacks comes with the fixture.
  rendered(null);
  render(
    <MantineProvider env="test" theme={theme}>
      {children}
    </MantineProvider>,
  );
}

describe('what the kit draws', () => {
  afterEach(cleanup);

  it('is a menu that holds its items alone', () => {
    open(
      <Menu opened>
        <Menu.Target>
          <button type="button">More</button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item>Requests</Menu.Item>
          <Menu.Item>Usage</Menu.Item>
        </Menu.Dropdown>
      </Menu>,
    );
    const roles = [...screen.getByRole('menu').children].map((child) => child.getAttribute('role'));
    expect(roles).toEqual(['menuitem', 'menuitem']);
  });

  it('is a dialog whose head is no second banner of the page', () => {
    open(<Modal opened onClose={() => undefined} title="The same call" />);
    expect(screen.getByRole('dialog', { name: 'The same call' })).toBeTruthy();
    expect(document.querySelector('header')?.getAttribute('role')).toBe('presentation');
  });
});

const WHOLE = mergeMantineTheme(DEFAULT_THEME, theme);
/** Background of a row below the pointer, as the kit has it. */
const HOVERED = { light: 'var(--mantine-color-gray-1)', dark: 'var(--mantine-color-dark-5)' };

/** Returns the colour of a token of the theme. */
function colourOf(text: string): string {
  const [, name, shade] = /^var\(--mantine-color-([a-z]+)(?:-(\d))?\)$/.exec(text) ?? [];
  if (name === undefined) return text;
  return name === 'white' ? '#ffffff' : WHOLE.colors[name][Number(shade)];
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(colourOf(one)), luminance(colourOf(other))].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

it.each(['light', 'dark'] as const)(
  'point 2 links, small and wrong text can be read on a page, on a card and on a row below the pointer: %s',
  (scheme) => {
    const tokens = cssVariables(WHOLE)[scheme];
    const grounds = [tokens['--page-background'], tokens['--card-background'], HOVERED[scheme]];
    for (const text of ['anchor', 'dimmed', 'placeholder', 'error'])
      for (const ground of grounds) {
        const ratio = contrast(tokens[`--mantine-color-${text}`], ground);
        expect({ text, ground, isRead: ratio >= 4.5 }).toEqual({ text, ground, isRead: true });
      }
  },
);
