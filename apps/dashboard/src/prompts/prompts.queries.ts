import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Template = Schemas['TemplateRecord'];
export type Version = Schemas['TemplateVersionRecord'];

export const TEMPLATES_A_PAGE = 50;
const VERSIONS_MAX = 200;

export function useTemplates(
  org: string | null,
  page: number,
): UseQueryResult<Schemas['PageOfTemplateRecord']> {
  const query = {
    ...(org === null ? {} : { org_id: org }),
    limit: TEMPLATES_A_PAGE,
    offset: (page - 1) * TEMPLATES_A_PAGE,
  };
  return useQuery({
    queryKey: [org, 'templates', query],
    queryFn: () => bodyOf(api.GET('/v1/templates', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

export function useTemplate(id: string): UseQueryResult<Template> {
  return useQuery({
    queryKey: ['template', id],
    queryFn: () => bodyOf(api.GET('/v1/templates/{id}', { params: { path: { id } } })),
  });
}

/** Newest first. */
export function useVersions(id: string): UseQueryResult<Schemas['PageOfTemplateVersionRecord']> {
  return useQuery({
    queryKey: ['template', id, 'versions'],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/templates/{id}/versions', { params: { path: { id }, query: { limit: VERSIONS_MAX } } }),
      ),
  });
}

function useTemplateWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([first, noun]) => first === 'template' || noun === 'templates' });
}

export function useCreateTemplate(
  idempotencyKey: string,
): UseMutationResult<Template, Problem, Schemas['CreateTemplateBody']> {
  return useTemplateWrite((body) =>
    bodyOf(api.POST('/v1/templates', { body, headers: { 'Idempotency-Key': idempotencyKey } })),
  );
}

export function useAddVersion(
  id: string,
): UseMutationResult<Version, Problem, Schemas['CreateTemplateVersionBody']> {
  return useTemplateWrite((body) =>
    bodyOf(api.POST('/v1/templates/{id}/versions', { params: { path: { id } }, body })),
  );
}

/** A draft is published; one that was published before is rolled back to. */
export function usePublish(id: string): UseMutationResult<Template, Problem, Version> {
  return useTemplateWrite(({ id: version, status }) =>
    bodyOf(
      status === 'superseded'
        ? api.POST('/v1/templates/{id}/versions/{version_id}/rollback', {
            params: { path: { id, version_id: version } },
          })
        : api.POST('/v1/templates/{id}/publish', { params: { path: { id } }, body: { version_id: version } }),
    ),
  );
}

export function useArchive(id: string): UseMutationResult<Template, Problem, boolean> {
  return useTemplateWrite((archived) =>
    bodyOf(api.PATCH('/v1/templates/{id}', { params: { path: { id } }, body: { archived } })),
  );
}
