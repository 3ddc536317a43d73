import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';
import type { Params } from './search-params.js';

export type SharedView = Schemas['ViewRecord'];
export type ViewPage = Schemas['CreateViewBody']['page'];

/** Number of views that an organization has at most. */
const VIEWS_MAX = 100;

/** Views of a page that the organization shares, by name; none of an account without one. */
export function useSharedViews(org: string | null, page: ViewPage): UseQueryResult<SharedView[]> {
  return useQuery({
    queryKey: [org, 'views', page],
    enabled: org !== null,
    queryFn: async () => {
      const params = { path: { id: org ?? '' }, query: { page, limit: VIEWS_MAX } };
      const { data } = await bodyOf(api.GET('/v1/orgs/{id}/views', { params }));
      return data.toSorted((a, b) => a.name.localeCompare(b.name));
    },
  });
}

function useViewWrite<Sent, Answer>(
  org: string | null,
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([first, noun]) => first === org && noun === 'views' });
}

/** Keeps what the address shows; a view that is there already, by its id, shows it from then on. */
export function useKeepView(
  org: string | null,
  page: ViewPage,
): UseMutationResult<SharedView, Problem, { name: string; search: Params; id: string | undefined }> {
  const orgId = org ?? '';
  return useViewWrite(org, ({ name, search: shown, id }) => {
    // Their texts are not in the type of the document, which says an object alone.
    const search = shown as Record<string, never>;
    return bodyOf(
      id === undefined
        ? api.POST('/v1/orgs/{id}/views', { params: { path: { id: orgId } }, body: { page, name, search } })
        : api.PATCH('/v1/orgs/{id}/views/{view_id}', {
            params: { path: { id: orgId, view_id: id } },
            body: { search },
          }),
    );
  });
}

export function useDeleteView(org: string | null): UseMutationResult<unknown, Problem, string> {
  return useViewWrite(org, (id) =>
    bodyOf(api.DELETE('/v1/orgs/{id}/views/{view_id}', { params: { path: { id: org ?? '', view_id: id } } })),
  );
}
