import { bodyOfDraft, draftOf, variableNames } from './draft.js';
import type { Version } from './prompts.queries.js';

const version: Version = {
  id: 'ptv_1',
  object: 'template.version',
  template_id: 'ptl_1',
  version: 1,
  status: 'draft',
  notes: null,
  created_at: '2026-07-02T12:00:00Z',
  created_by: 'usr_1',
  checksum: '00',
  messages: [
    { role: 'system', content: 'You answer in {{ language }}.' },
    { role: 'user', content: [{ type: 'text', text: '{{question}}' }] },
  ],
  variables: [
    { name: 'language', type: 'string', required: false, default: 'English' },
    { name: 'question', type: 'string', required: true },
  ],
  defaults: { temperature: 0 },
  tools: null,
  response_format: null,
};

describe('the next version of a prompt', () => {
  it('begins as the last one, parts and parameters included', () => {
    const body = bodyOfDraft(draftOf(version), version);
    expect(body).toEqual({
      messages: version.messages,
      variables: version.variables,
      defaults: { temperature: 0 },
    });
  });

  it('takes its variables from the texts, each once', () => {
    const messages = [{ role: 'user' as const, text: '{{a}} {{ b }} {{a}} {{1}} {c}' }];
    expect(variableNames(messages)).toEqual(['a', 'b']);
  });

  it('leaves empty messages out, and reads the default of a number as one', () => {
    const draft = {
      messages: [
        { role: 'system' as const, text: ' ' },
        { role: 'user' as const, text: 'at most {{n}} words' },
      ],
      variables: { n: { type: 'number' as const, fallback: '50' } },
      notes: ' shorter ',
    };
    expect(bodyOfDraft(draft, undefined)).toEqual({
      messages: [{ role: 'user', content: 'at most {{n}} words' }],
      variables: [{ name: 'n', type: 'number', required: false, default: 50 }],
      notes: 'shorter',
    });
  });
});
