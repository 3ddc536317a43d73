/** @jest-environment jsdom */
import { MantineProvider, Menu, Modal } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { rendered } from './shell/rendered.fixture.js';
import { theme } from './theme.js';

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
