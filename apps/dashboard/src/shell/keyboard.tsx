import { useHotkeys } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import type { Role } from '../session/rights.js';
import { useOrg } from './org.queries.js';
import { useRangeOfLink } from './remembered-range.js';
import { LETTERS } from './letters.js';
import { usePages } from './pages.js';

const Palette = lazy(() => import('./palette.js'));
const KeyboardHelp = lazy(() => import('./keyboard-help.js'));

const LETTER_WITHIN_MS = 1_500;
const ROW_LINKS = 'main [role=row] a[href], main tbody tr a[href]';

interface KeyboardProps {
  roles: readonly Role[];
  isPaletteOpen: boolean;
  setPaletteOpen: (isOpen: boolean) => void;
}

/** Handler of the keys of every page: `?` lists them. */
export function Keyboard({ roles, isPaletteOpen, setPaletteOpen }: KeyboardProps): ReactNode {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const navigate = useNavigate();
  const { slug } = useOrg();
  const rangeOfLink = useRangeOfLink();
  const pages = usePages();
  const [isAfterG, setAfterG] = useState(false);
  useEffect(() => {
    if (!isAfterG) return undefined;
    const timer = setTimeout(() => setAfterG(false), LETTER_WITHIN_MS);
    return () => clearTimeout(timer);
  }, [isAfterG]);
  const goTo = (letter: string): void => {
    if (!isAfterG) return;
    setAfterG(false);
    const { path } = LETTERS[letter];
    if (!pages.some((page) => page.path === path)) return;
    void navigate({ to: `/o/${slug}${path}`, search: rangeOfLink(path) });
  };
  // With Control it is heard within text fields too.
  useHotkeys([['mod+K', () => setPaletteOpen(true)]], []);
  useHotkeys([
    ['/', () => document.querySelector<HTMLInputElement>('main input[placeholder]')?.focus()],
    ['shift+?', () => setHelpOpen(true), { usePhysicalKeys: false }],
    ['j', () => moveRow(1)],
    ['g', () => setAfterG(true)],
    ...Object.keys(LETTERS)
      .filter((letter) => letter !== 'k')
      .map((letter): [string, () => void] => [letter, () => goTo(letter)]),
    ['k', () => (isAfterG ? goTo('k') : moveRow(-1))],
  ]);
  return (
    <Suspense>
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} roles={roles} />}
      {isHelpOpen && <KeyboardHelp onClose={() => setHelpOpen(false)} />}
    </Suspense>
  );
}

/** Rows are opened by the link in them: Enter is the link's own. */
function moveRow(step: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(ROW_LINKS)];
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(at + step, links.length - 1))]?.focus();
}
