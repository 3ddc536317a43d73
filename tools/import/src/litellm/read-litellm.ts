import { emptyPlan, type Draft, type Note } from '../plan.js';
import { ConfigFile, isTree, textOf, treeOf } from './config-file.js';
import { readDeployments } from './deployment.js';
import { Groups } from './groups.js';
import { tellLeftOut } from './left-out.js';
import { Models } from './models.js';
import { readProviderBudgets } from './provider-budgets.js';
import type { ReleaseData } from './release.js';
import { Router } from './router.js';
import { Upstreams, type Served } from './upstreams.js';

/** A configuration file as a draft, and the names that rows of the database use. */
export interface LiteLlm {
  draft: Draft;
  groups: Groups;
  router: Router;
}

/** Reads a configuration file. Throws NotReadable. */
export function readLiteLlm(
  { text, name }: { text: string; name: string },
  release: ReleaseData,
  env: Readonly<Record<string, string | undefined>>,
): LiteLlm {
  const file = new ConfigFile(text, name);
  const notes: Note[] = [];
  const tell = (at: readonly (string | number)[], words: string): number =>
    notes.push({ place: file.place(at), words });
  const groups = new Groups(tell);
  const upstreams = new Upstreams(release, env, tell);
  const models = new Models(release, tell);
  for (const deployment of readDeployments(file, notes)) {
    const served = upstreams.place(deployment);
    if (served === null) continue;
    if (deployment.upstreamModel.includes('*')) {
      if (addBrand(served, groups, release, tell)) upstreams.serves(served, `${served.provider}/*`);
      continue;
    }
    const id = models.idOf(served);
    if (id === null) continue;
    upstreams.serves(served, id);
    groups.add(deployment, id);
  }
  const router = new Router(file, groups, tell);
  const ids = new Set(models.models.map(({ id }) => id));
  const isModel = (id: string): boolean => release.hasModel(id) || ids.has(id);
  const aliases = [
    ...groups.aliases(isModel),
    ...Object.entries(treeOf(treeOf(file.root, 'router_settings'), 'model_group_alias')).flatMap(
      ([alias, value]) => {
        const group = isTree(value) ? textOf(value, 'model') : String(value);
        const at = ['router_settings', 'model_group_alias', alias];
        return groups.aliasOf(alias, group ?? '', at, isModel);
      },
    ),
  ];
  tellLeftOut(file, tell);
  const unique = aliases.filter(
    ({ name: alias }, at) => aliases.findIndex((one) => one.name === alias) === at,
  );
  const { providers, credentials } = upstreams;
  const budgets = readProviderBudgets(file, providers, release, tell);
  const plan = { ...emptyPlan('litellm'), routing: router.routing, credentials };
  const gateway = { providers, models: models.models, prices: models.prices, aliases: unique, budgets };
  return { draft: { gateway, plan, notes }, groups, router };
}

/** A name with a star is every model of a brand, where the provider is the brand. */
function addBrand(
  { deployment: { at, group, upstreamModel }, provider }: Served,
  groups: Groups,
  release: ReleaseData,
  tell: (at: readonly (string | number)[], words: string) => void,
): boolean {
  if (upstreamModel === '*' && release.hasBrand(provider)) {
    groups.addBrand(group, provider);
    return true;
  }
  tell([...at, 'model_name'], `${group} is not written: name each model of ${provider} by itself`);
  return false;
}
