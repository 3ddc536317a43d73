import type { ApiVersion, WireBody } from '../api-version.js';

/** Spec, Versioning 9: video tasks carry request_id, pricing carries discounted. */
export const version: ApiVersion = {
  label: '2026-09',
  status: 'ga',
  released: '2026-09-01',
  deprecated_on: null,
  sunset_on: null,
  notes_url: null,
  capabilities: ['video.poll_by_request_id'],
  downConversions: {
    model: withoutDiscounted,
    provider: withoutDiscounted,
    video_task: ({ request_id: _requestId, ...task }) => task,
  },
};

function withoutDiscounted(body: WireBody): WireBody {
  const { pricing } = body;
  if (typeof pricing !== 'object' || pricing === null || !('discounted' in pricing)) return body;
  const { discounted: _discounted, ...rest } = pricing;
  return { ...body, pricing: rest };
}
