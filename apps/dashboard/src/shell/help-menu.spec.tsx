/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { fireEvent, screen } from '@testing-library/react';
import { renderedAt } from './rendered.fixture.js';

jest.unstable_mockModule('../api/call.js', () => ({ api: {}, bodyOf: () => undefined }));
const { default: HelpMenu } = await import('./help-menu.js');

it('the help leads to the reference of the API, to the first request and to the keys of the keyboard', async () => {
  renderedAt('/o/org_1/home', <HelpMenu />);
  fireEvent.click(await screen.findByRole('button', { name: 'Help' }));
  const hrefOf = async (name: string): Promise<string | null> =>
    (await screen.findByRole('menuitem', { name })).getAttribute('href');
  expect(await hrefOf('API reference')).toBe('/docs');
  expect(await hrefOf('First request')).toBe('/o/org_1/start');
  fireEvent.click(screen.getByRole('menuitem', { name: 'Keyboard shortcuts' }));
  await screen.findByRole('dialog', { name: 'Keyboard' });
});
