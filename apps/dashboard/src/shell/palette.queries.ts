import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { isAllowed, type Role } from '../session/rights.js';
import { ACTIONS } from './palette-actions.js';
import { usePages } from './pages.js';
import { entriesOf } from './sections.js';

/** One thing that the palette can open, by its path below /o/{org}. */
export interface Choice {
  id: string;
  label: string;
  hint: string;
  path: string;
  search?: Readonly<Record<string, string>>;
}

const FOUND_MAX = 5;
const PAGES_MAX = 8;
const REQUEST_ID = /^req_[\w-]+$/;

/** Pages and actions that the person may open, by their title and other words; those that begin with the text first. */
export function usePageChoices(roles: readonly Role[], text: string): Choice[] {
  const pages = usePages();
  const listed = [
    ...entriesOf(pages, roles).flatMap((entry) => entry.pages),
    ...pages.filter(({ path, nav, who }) => !nav && !path.includes('$') && isAllowed(roles, who)),
  ].map(({ path, title, words = '' }) => ({
    choice: { id: `page ${path}`, label: title, hint: 'page', path },
    words,
  }));
  if (text === '') return listed.map(({ choice }) => choice);
  const actions = ACTIONS.filter(
    ({ path, who }) => isAllowed(roles, who) && pages.some((page) => page.path === path),
  ).map(({ label, words, path, search }) => ({
    choice: { id: `action ${label}`, label, hint: 'action', path, search },
    words,
  }));
  return [...listed, ...actions]
    .map(({ choice, words }) => ({ choice, rank: rankOf(text, choice.label, words) }))
    .filter(({ rank }) => rank < NOT_FOUND)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, PAGES_MAX)
    .map(({ choice }) => choice);
}

const NOT_FOUND = 3;

/** Returns 0 for a label that begins with the text, 1 for one that has its words, 2 for other words that have them. */
function rankOf(text: string, label: string, words: string): number {
  const [wanted, name] = [text.toLowerCase(), label.toLowerCase()];
  if (name.startsWith(wanted)) return 0;
  const parts = wanted.split(/\s+/);
  if (parts.every((part) => name.includes(part))) return 1;
  return parts.every((part) => `${name} ${words}`.includes(part)) ? 2 : NOT_FOUND;
}

/** Keys, models, members and teams that the text finds: a few of each, asked of the server. */
export function useFound(org: string | null, text: string): UseQueryResult<Choice[]> {
  return useQuery({
    queryKey: [org, 'palette', text],
    enabled: text.length > 1 && requestChoice(text) === null,
    queryFn: async () => {
      const groups = await Promise.allSettled([
        keys(org, text),
        models(text),
        ...(org === null ? [] : [members(org, text), teams(org, text)]),
      ]);
      // What the person may not read is not found; the others are.
      return groups.flatMap((group) => (group.status === 'fulfilled' ? group.value : []));
    },
  });
}

/** The request of a pasted id, which nobody has to be asked for; null where the text is none. */
export function requestChoice(id: string): Choice | null {
  return REQUEST_ID.test(id) ? { id, label: id, hint: 'request', path: `/requests/${id}` } : null;
}

async function keys(org: string | null, label: string): Promise<Choice[]> {
  const query = { ...keysOf(org), label, limit: FOUND_MAX };
  const { data } = await bodyOf(api.GET('/v1/keys', { params: { query } }));
  return data.map((key) => ({
    id: key.id,
    label: key.label ?? key.masked_key,
    hint: 'API key',
    path: `/keys/${key.id}`,
  }));
}

async function models(q: string): Promise<Choice[]> {
  const { data } = await bodyOf(api.GET('/v1/models/search', { params: { query: { q, limit: FOUND_MAX } } }));
  return data.map(({ id }) => ({ id, label: id, hint: 'model', path: `/models/${id}` }));
}

async function members(org: string, q: string): Promise<Choice[]> {
  const query = { q, limit: FOUND_MAX };
  const { data } = await bodyOf(api.GET('/v1/orgs/{id}/members', { params: { path: { id: org }, query } }));
  return data.map(({ user_id: id, name, email }) => ({
    id,
    label: name,
    hint: email,
    path: '/members',
    search: { q: email },
  }));
}

async function teams(org: string, q: string): Promise<Choice[]> {
  const query = { q, limit: FOUND_MAX };
  const { data } = await bodyOf(api.GET('/v1/orgs/{id}/teams', { params: { path: { id: org }, query } }));
  return data.map(({ id, name }) => ({ id, label: name, hint: 'team', path: `/teams/${id}` }));
}
