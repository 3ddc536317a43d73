import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { isAllowed, type Role } from '../session/rights.js';
import { usePages } from './pages.js';

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

/** Pages that the person may open, by their title. */
export function usePageChoices(roles: readonly Role[], text: string): Choice[] {
  const wanted = text.toLowerCase();
  return usePages()
    .filter(({ path, who }) => !path.includes('$') && isAllowed(roles, who))
    .filter(({ title }) => title.toLowerCase().includes(wanted))
    .slice(0, text === '' ? undefined : PAGES_MAX)
    .map(({ path, title }) => ({ id: `page ${path}`, label: title, hint: 'page', path }));
}

/** Keys, models and members that the text finds: a few of each, asked of the server. */
export function useFound(org: string | null, text: string): UseQueryResult<Choice[]> {
  return useQuery({
    queryKey: [org, 'palette', text],
    enabled: text.length > 1 && requestChoice(text) === null,
    queryFn: async () => {
      const groups = await Promise.allSettled([
        keys(org, text),
        models(text),
        ...(org === null ? [] : [members(org, text)]),
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
