import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { ApiVersion } from './api-version.js';
import {
  BASELINE_VERSION,
  downConvert,
  LATEST_VERSION,
  resolveVersion,
  SUPPORTED_VERSIONS,
  VERSIONS,
} from './api-versions.js';
import { registrySource } from './registry-source.js';
import { retirementHeaders } from './retirement.js';
import { VersionTable } from './version-table.js';

const folder = new URL('./', import.meta.url);

describe('the table of versions', () => {
  it('VER-03 VER-16 VER-17 VER-29 VER-31 VER-32 serves 2026-08 as baseline and 2026-09, oldest first', () => {
    const none = { deprecated_on: null, sunset_on: null, notes_url: null };
    expect(VERSIONS).toEqual([
      {
        label: '2026-08',
        status: 'ga',
        released: '2026-08-01',
        ...none,
        baseline: true,
        latest: false,
        capabilities: [],
      },
      {
        label: '2026-09',
        status: 'ga',
        released: '2026-09-01',
        ...none,
        baseline: false,
        latest: true,
        capabilities: ['video.poll_by_request_id'],
      },
    ]);
    expect([BASELINE_VERSION, LATEST_VERSION]).toEqual(['2026-08', '2026-09']);
    expect(SUPPORTED_VERSIONS.every((label) => /^\d{4}-(0[1-9]|1[0-2])$/.test(label))).toBe(true);
  });

  it('adding a version is one file: the generated list is fresh', () => {
    const source = readFileSync(new URL('versions.generated.ts', folder), 'utf8');
    expect(source).toBe(registrySource(readdirSync(new URL('versions', folder))));
  });

  it('VER-28 nothing is deprecated', () => {
    for (const version of VERSIONS) expect(retirementHeaders(version)).toEqual({});
  });
});

describe('resolveVersion', () => {
  it('VER-04 VER-05 VER-06 header, then the key’s pin, then the baseline', () => {
    expect(resolveVersion('2026-08', '2026-09')).toBe('2026-08');
    expect(resolveVersion(undefined, '2026-09')).toBe('2026-09');
    expect(resolveVersion(undefined, null)).toBe('2026-08');
  });

  it('VER-12 an unsupported pin falls back to the baseline', () => {
    expect(resolveVersion(undefined, '2020-01')).toBe('2026-08');
  });

  it.each([['2026-09', '2026-09'], ['2026-09, 2026-09']])(
    'accepts one version said twice: %j',
    (...header) => {
      expect(resolveVersion(header, null)).toBe('2026-09');
    },
  );

  it.each([[''], ['2026-08,'], ['2026-08, 2026-09'], ['latest'], ['2026-9'], [' '], ['2026-08-01'], []])(
    'VER-09 VER-10 VER-11 ERR-06 ERR-26 refuses %j with the served versions and no fallback',
    (...header) => {
      expect(() => resolveVersion(header, '2026-09')).toThrow(
        expect.objectContaining({
          code: 'invalid_api_version',
          status: 400,
          options: expect.objectContaining({ supportedVersions: ['2026-08', '2026-09'] }),
        }),
      );
    },
  );

  it('VER-09 VER-10 answers a served version or refuses, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          expect(SUPPORTED_VERSIONS).toContain(resolveVersion(text, null));
        } catch (failure) {
          expect(failure).toMatchObject({ code: 'invalid_api_version' });
        }
      }),
    );
  });
});

describe('downConvert', () => {
  const model = { id: 'a/b', pricing: { prompt_usd_per_1m: '1', discounted: { prompt_usd_per_1m: '0.5' } } };
  const task = { id: 'vid_1', status: 'queued', request_id: 'req_1' };

  it('strips what 2026-09 added under 2026-08 and leaves its argument alone', () => {
    const before = structuredClone({ model, task });
    expect(downConvert('model', model, '2026-08')).toEqual({
      id: 'a/b',
      pricing: { prompt_usd_per_1m: '1' },
    });
    expect(downConvert('video_task', task, '2026-08')).toEqual({ id: 'vid_1', status: 'queued' });
    expect({ model, task }).toEqual(before);
    expect(downConvert('model', model, '2026-09')).toBe(model);
    expect(downConvert('video_task', task, '2026-09')).toBe(task);
  });

  it('VER-19 VER-21 VER-22 has no conversion for usage, stop reasons, service tiers, prices or limits', () => {
    const answer = {
      id: 'a/b',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      choices: [{ finish_reason: 'stop' }],
      service_tier: 'default',
      context_length: 10,
      pricing: { prompt_usd_per_1m: '1' },
    };
    for (const kind of ['model', 'provider', 'video_task'] as const) {
      expect(downConvert(kind, answer, '2026-08')).toEqual(downConvert(kind, answer, '2026-09'));
    }
  });

  it('VER-23 removes no field from a version once served: golden answers per version', () => {
    const golden = {
      '2026-08': {
        model: { id: 'a/b', pricing: { prompt_usd_per_1m: '1' } },
        task: { id: 'vid_1', status: 'queued' },
      },
      '2026-09': { model, task },
    };
    for (const [label, expected] of Object.entries(golden)) {
      expect(downConvert('model', model, label)).toEqual(expected.model);
      expect(downConvert('video_task', task, label)).toEqual(expected.task);
    }
  });
});

describe('versions to come', () => {
  function made(label: string, more: Partial<ApiVersion> = {}): ApiVersion {
    const dates = { released: `${label}-01`, deprecated_on: null, sunset_on: null, notes_url: null };
    return { label, status: 'ga', ...dates, capabilities: [`c.${label}`], downConversions: {}, ...more };
  }

  it('VER-18 ST-11 capabilities are cumulative, baseline and latest move by themselves', () => {
    const table = new VersionTable([
      made('2027-03', { status: 'preview' }),
      made('2026-09'),
      made('2026-08', { status: 'sunset', deprecated_on: '2027-03-01', sunset_on: '2027-09-01' }),
      made('2027-01'),
    ]);
    expect(table.records.map(({ capabilities }) => capabilities.length)).toEqual([1, 2, 3, 4]);
    expect([table.baseline, table.latest]).toEqual(['2026-09', '2027-01']);
    expect(table.served).toEqual(['2026-09', '2027-01', '2027-03']);
    expect(() => table.resolve('2026-08', null)).toThrow(
      expect.objectContaining({ code: 'invalid_api_version' }),
    );
  });

  it('converts from the newest version back, step by step', () => {
    const table = new VersionTable([
      made('2026-08'),
      made('2026-09', {
        downConversions: { model: (body) => ({ ...body, steps: `${String(body.steps)}9` }) },
      }),
      made('2026-10', {
        downConversions: { model: (body) => ({ ...body, steps: `${String(body.steps)}10` }) },
      }),
    ]);
    expect(table.downConvert('model', { steps: '' }, '2026-08')).toEqual({ steps: '109' });
    expect(table.downConvert('model', { steps: '' }, '2026-09')).toEqual({ steps: '10' });
  });

  it('ERR-49 500 api_version_migration_failed where a conversion cannot', () => {
    const broken = (): never => {
      throw new Error('no such member');
    };
    const table = new VersionTable([
      made('2026-08'),
      made('2026-09', { downConversions: { model: broken } }),
    ]);
    expect(() => table.downConvert('model', {}, '2026-08')).toThrow(
      expect.objectContaining({ code: 'api_version_migration_failed', status: 500 }),
    );
  });

  it.each([
    ['before 12 months of its successor', { deprecated_on: '2026-10-01', sunset_on: '2027-08-31' }],
    ['before 6 months of its deprecation', { deprecated_on: '2027-06-02', sunset_on: '2027-12-01' }],
    ['without a deprecation', { sunset_on: '2028-01-01' }],
    ['deprecated without a day', { status: 'deprecated' as const }],
    ['sunset without a day', { status: 'sunset' as const }],
  ])('VER-35 no version is declared that would end %s', (_name, more) => {
    expect(() => new VersionTable([made('2026-08', more), made('2026-09')])).toThrow('API version 2026-08');
  });

  it('VER-35 a preview and a deprecated version are served, and say so', () => {
    const dates = { deprecated_on: '2027-03-01', sunset_on: '2027-09-01' };
    const table = new VersionTable([
      made('2026-08', { status: 'deprecated', ...dates }),
      made('2026-09'),
      made('2027-03', { status: 'preview' }),
    ]);
    expect(table.records.map(({ status }) => status)).toEqual(['deprecated', 'ga', 'preview']);
    expect(table.served).toEqual(['2026-08', '2026-09', '2027-03']);
    expect(() => new VersionTable([made('2026-08', { status: 'sunset', ...dates })])).toThrow('successor');
  });

  it('VER-24 VER-25 VER-26 a retirement is announced in both date formats, the end only once decided', () => {
    const dates = {
      deprecated_on: '2027-01-01',
      sunset_on: '2027-07-01',
      notes_url: 'https://docs.example/m',
    };
    expect(retirementHeaders(dates)).toEqual({
      Deprecation: '@1798761600',
      Sunset: 'Thu, 01 Jul 2027 00:00:00 GMT',
      Link: '<https://docs.example/m>; rel="deprecation"; type="text/html"',
    });
    expect(retirementHeaders({ ...dates, sunset_on: null })).not.toHaveProperty('Sunset');
  });
});
