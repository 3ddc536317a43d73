import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
const SERVICES = ['catalogue', 'keys', 'usage', 'notifications', 'workers', 'edge'];

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: { key: string; optional: boolean } };
}
interface Container {
  name: string;
  env?: Variable[];
  securityContext: Record<string, unknown>;
  volumeMounts?: { name: string; mountPath: string }[];
}
interface Pod {
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext: Record<string, unknown>;
  containers: Container[];
  volumes?: { name: string }[];
}
interface Manifest {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    template?: { spec: Pod };
    /** Template of the jobs of a CronJob. */
    jobTemplate?: { spec: { template: { spec: Pod } } };
    maxReplicas?: number;
    volumeClaimTemplates?: { metadata: { name: string; labels?: unknown } }[];
    groups?: { rules: { alert: string; annotations: Record<string, string> }[] }[];
  };
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const manifestsOf = (name: string): Manifest[] =>
  parseAllDocuments(read(`deploy/kubernetes/${name}.yaml`))
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
const all = new Map(['cluster', 'journal', 'small'].map((name) => [name, manifestsOf(name)]));
const pods = [...all].flatMap(([name, manifests]) =>
  manifests.flatMap(({ kind, metadata, spec }) => {
    const template = spec?.template ?? spec?.jobTemplate?.spec.template;
    return template === undefined ? [] : [[`${name} ${kind} ${metadata.name}`, template.spec] as const];
  }),
);
const documented = new Set(
  [...read('.env.example').matchAll(/\b([A-Z][A-Z0-9_]+)\b/g)].map(([, name]) => name),
);
const serviceOf = (name: string, component: string): Pod => {
  const found = all
    .get(name)
    ?.find(
      ({ kind, metadata }) => /Deployment|StatefulSet/.test(kind) && metadata.name.endsWith(`-${component}`),
    );
  return found?.spec.template?.spec as Pod;
};
const secretsOf = ({ containers }: Pod): string[] =>
  (containers[0].env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []);

describe('the manifests of Kubernetes', () => {
  it('are of this release', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const chart = parse(read('deploy/helm/model-gateway/Chart.yaml')) as Record<string, string>;
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });

  it('are those of each file of the chart’s ci', () => {
    const files = globSync('*-values.yaml', { cwd: join(ROOT, 'deploy/helm/model-gateway/ci') });
    expect(files.map((file) => file.replace('-values.yaml', '')).toSorted()).toEqual([...all.keys()]);
  });

  it.each(pods)(
    '%s: restricted Pod Security',
    (_name, { automountServiceAccountToken, securityContext, containers }) => {
      expect(automountServiceAccountToken).toBe(false);
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsGroup: 0,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect([1000, undefined]).toContain(securityContext.runAsUser);
      for (const container of containers)
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    },
  );

  it.each(pods)('%s: each variable is in .env.example, once, and each mount has a volume', (_name, pod) => {
    for (const { env = [], volumeMounts = [] } of pod.containers) {
      const names = env.map(({ name }) => name);
      expect(names.filter((name) => !documented.has(name.replace(/_FILE$/, '')))).toEqual([]);
      expect(names).toHaveLength(new Set(names).size);
      const volumes = [...(pod.volumes ?? []).map(({ name }) => name), 'journal', 'data'];
      for (const { name } of volumeMounts) expect(volumes).toContain(name);
      // A file that a variable names stands in a mount.
      for (const { name, value = '' } of env.filter(({ value }) => value?.startsWith('/')))
        expect([name, volumeMounts.some(({ mountPath }) => value.startsWith(mountPath))]).toEqual([
          name,
          true,
        ]);
    }
  });

  it.each(['cluster', 'journal'])('%s: the address of each service is a Service', (name) => {
    const services = (all.get(name) ?? [])
      .filter(({ kind }) => kind === 'Service')
      .map(({ metadata }) => metadata.name);
    for (const component of SERVICES)
      for (const { name: variable, value } of serviceOf(name, component).containers[0].env ?? []) {
        const [, host] = /^http:\/\/([a-z0-9-]+):8080$/.exec(value ?? '') ?? [];
        if (host !== undefined) expect([variable, services.includes(host)]).toEqual([variable, true]);
      }
  });

  it('give each secret to the services that read it alone', () => {
    const readers = (secret: string): string[] =>
      SERVICES.filter((component) => secretsOf(serviceOf('journal', component)).includes(secret));
    expect(readers('KEYS_PEPPER')).toEqual(['keys']);
    expect(readers('KEYS_KEK')).toEqual(['keys']);
    expect(readers('NOTIFICATIONS_KEK')).toEqual(['notifications']);
    expect(readers('USAGE_KEK')).toEqual(['usage']);
    expect(readers('STRIPE_SECRET_KEY')).toEqual(['usage']);
    expect(readers('DATABASE_URL')).toEqual(['catalogue', 'keys', 'usage', 'notifications', 'workers']);
    expect(readers('FLEET_TOKEN')).toEqual(SERVICES);
  });

  it('tell the edges the largest number of them, and keep a volume for each under a name that never changes', () => {
    const edge = all
      .get('journal')
      ?.find(({ metadata, kind }) => kind === 'StatefulSet' && metadata.name.endsWith('-edge'));
    const scaler = all.get('journal')?.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
    const env = edge?.spec.template?.spec.containers[0].env ?? [];
    expect(env.find(({ name }) => name === 'EDGE_REPLICAS')?.value).toBe(String(scaler?.spec.maxReplicas));
    expect(edge?.spec.volumeClaimTemplates?.map(({ metadata }) => metadata)).toEqual([{ name: 'journal' }]);
  });

  it.each(pods.filter(([name]) => !/ (?:Cron)?Job /.test(name)))(
    '%s: is not killed before its drain is over',
    (_name, pod) => {
      const secondsOf = (setting: string): number =>
        Number(pod.containers[0].env?.find(({ name }) => name === setting)?.value ?? 0) / 1_000;
      const drainSeconds = secondsOf('DRAIN_ACCEPT_MS') + secondsOf('DRAIN_GRACE_MS');
      expect(drainSeconds).toBeGreaterThan(0);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSeconds + 40);
    },
  );

  it('bring every alert, with an address of its runbook', () => {
    const { groups } = parse(read('deploy/alerts/model-gateway.rules.yaml')) as {
      groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
    };
    const made = all.get('journal')?.find(({ kind }) => kind === 'PrometheusRule')?.spec.groups ?? [];
    const rules = made.flatMap((group) => group.rules);
    expect(rules.map(({ alert }) => alert)).toEqual(
      groups.flatMap((group) => group.rules.map(({ alert }) => alert)),
    );
    for (const { annotations } of rules) expect(annotations.runbook_url).toMatch(/^https:\/\/.+\.md$/);
  });
});
