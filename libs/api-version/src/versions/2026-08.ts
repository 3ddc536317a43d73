import type { ApiVersion } from '../api-version.js';

export const version: ApiVersion = {
  label: '2026-08',
  status: 'ga',
  released: '2026-08-01',
  deprecated_on: null,
  sunset_on: null,
  notes_url: null,
  capabilities: [],
  downConversions: {},
};
