import { ALIAS_NAME_PATTERN } from '@gateway/contracts';
import type { OwnAlias } from '@gateway/providers';
import { Decimal } from 'decimal.js';
import type { Path } from './config-file.js';
import type { Deployment } from './deployment.js';

const TARGETS_MAX = 8;
const WEIGHT_MAX = 1_000;

interface Member {
  id: string;
  deployment: Deployment;
}

/** The models of each `model_name`, and the names that alias files and lists of models use for them. */
export class Groups {
  private readonly members = new Map<string, Member[]>();
  private readonly access = new Map<string, Set<string>>();
  /** Brands of which every model is callable: a `model_name` with a star. */
  private readonly brands = new Map<string, string>();

  constructor(private readonly tell: (at: Path, words: string) => void) {}

  add(deployment: Deployment, id: string): void {
    const { group, accessGroups } = deployment;
    this.members.set(group, [...(this.members.get(group) ?? []), { id, deployment }]);
    for (const name of accessGroups) this.access.set(name, (this.access.get(name) ?? new Set()).add(group));
  }

  addBrand(group: string, slug: string): void {
    this.brands.set(group, slug);
  }

  names(): string[] {
    return [...this.members.keys()];
  }

  /** Returns the ids that a name of a model or of an access group stands for; null for an unknown name. */
  idsOf(name: string): string[] | null {
    const groups = this.access.get(name);
    if (groups !== undefined) return [...new Set([...groups].flatMap((group) => this.idsOf(group) ?? []))];
    const brand = this.brands.get(name);
    if (brand !== undefined) return [`${brand}/*`];
    const members = this.members.get(name);
    return members === undefined ? null : [...new Set(members.map(({ id }) => id))];
  }

  /** Returns the aliases of the groups; a group whose name is the id of its one model needs none. */
  aliases(isModel: (id: string) => boolean): OwnAlias[] {
    return [...this.members].flatMap(([name, members]) => {
      const targets = this.targetsOf(members);
      const [{ deployment }] = members;
      if (targets.length === 1 && targets[0].model === name) return [];
      return this.named(name, targets, [...deployment.at, 'model_name'], isModel);
    });
  }

  /** Returns the alias of another name for a group; nothing where it cannot be, which is told. */
  aliasOf(name: string, group: string, at: Path, isModel: (id: string) => boolean): OwnAlias[] {
    const members = this.members.get(group);
    if (members !== undefined) return this.named(name, this.targetsOf(members), at, isModel);
    this.tell(at, `${group} is no model of the file`);
    return [];
  }

  private named(
    name: string,
    targets: OwnAlias['targets'],
    at: Path,
    isModel: (id: string) => boolean,
  ): OwnAlias[] {
    if (isModel(name)) this.tell(at, `${name} is the id of a model here, which requests for it get`);
    else if (name === 'auto' || !ALIAS_NAME_PATTERN.test(name))
      this.tell(at, `${name} cannot be the name of an alias: letters, digits, . _ : - and one slash`);
    else {
      if (targets.length > TARGETS_MAX)
        this.tell(at, `${name} has ${targets.length} models: the first ${TARGETS_MAX} are written`);
      return [{ name, targets: targets.slice(0, TARGETS_MAX) }];
    }
    return [];
  }

  /** Returns the models of a group by whole weights. Deployments of one model add up. */
  private targetsOf(members: readonly Member[]): OwnAlias['targets'] {
    const isWeighted = members.some(({ deployment: { weight } }) => weight !== null);
    const sums = new Map<string, Decimal>();
    for (const { id, deployment } of members) {
      const weight = deployment.weight ?? new Decimal(isWeighted ? 0 : 1);
      sums.set(id, (sums.get(id) ?? new Decimal(0)).plus(Decimal.max(weight, 0)));
    }
    const total = Decimal.sum(...sums.values());
    if (total.isZero()) return [...sums.keys()].map((model) => ({ model, weight: 1 }));
    const isWhole = [...sums.values()].every((sum) => sum.isInteger() && sum.lte(WEIGHT_MAX));
    return [...sums].map(([model, sum]) => {
      const scaled = isWhole ? sum : sum.times(WEIGHT_MAX).div(total).round();
      return { model, weight: sum.isZero() ? 0 : Math.max(1, scaled.toNumber()) };
    });
  }
}
