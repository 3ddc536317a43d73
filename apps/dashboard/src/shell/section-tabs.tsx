import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Role } from '../session/rights.js';
import { useOrg } from './org.queries.js';
import { usePages } from './pages.js';
import { entriesOf, pageAt } from './sections.js';
import classes from './section-tabs.module.css';

/** Pages of the menu entry that is open, as tabs; nothing where it has one alone. */
export function SectionTabs({ roles }: { roles: readonly Role[] }): ReactNode {
  const entries = entriesOf(usePages(), roles);
  const { slug } = useOrg();
  const here = pageAt(entries, useLocation().pathname.slice(`/o/${slug}`.length));
  const pages = entries.find((entry) => here !== undefined && entry.pages.includes(here))?.pages ?? [];
  if (pages.length < 2) return null;
  return (
    <nav aria-label="Section" className={classes.tabs}>
      {pages.map((page) => (
        <Link
          key={page.path}
          to={`/o/${slug}${page.path}`}
          activeOptions={EXACT}
          className={classes.tab}
          data-here={page === here || undefined}
          aria-current={page === here ? 'page' : undefined}
        >
          {page.title}
        </Link>
      ))}
    </nav>
  );
}

const EXACT = { exact: true };
