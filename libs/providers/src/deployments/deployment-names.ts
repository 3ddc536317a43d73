import { isObject } from '@gateway/dialects';

export const DEPLOYMENTS_MAX = 200;
const MODEL = /^[!-~]{1,200}$/;
/** Names that Azure takes. */
export const DEPLOYMENT = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
const NAME = new RegExp(DEPLOYMENT);

/** A resource's own list of its deployments. */
export interface DeploymentList {
  /** Names of deployments by `keyOf` their models. */
  readonly names: ReadonlyMap<string, string>;
  /** False where the resource may have others: it has more than are kept, or some that could not be read. */
  readonly isWhole: boolean;
  /** True where it names a Claude: the list of OpenAI's part of a resource may leave out the others. */
  readonly hasClaude: boolean;
}

/** Names by upstream model, as an operator writes them. */
type Written = Readonly<Record<string, string>>;

/** Names of the deployments of one resource, by the upstream model of a route: the list completes what is written. */
export class DeploymentNames {
  /** The resource's own list; null while it could not be read. */
  list: DeploymentList | null = null;
  private readonly written: ReadonlyMap<string, string>;

  /** `isDiscovered`: the resource is asked for its list. */
  constructor(
    written: Written = {},
    readonly isDiscovered = true,
  ) {
    this.written = new Map(Object.entries(written));
  }

  /** Returns undefined for a model that is called by its own name. */
  of(upstreamModel: string): string | undefined {
    return this.written.get(upstreamModel) ?? this.list?.names.get(keyOf(upstreamModel));
  }

  /**
   * True where the list was read, and neither it nor what is written has the model. A list without any Claude says
   * nothing of Claude, which is called beside OpenAI's part of the resource.
   */
  isMissing(upstreamModel: string): boolean {
    const { list } = this;
    if (list?.isWhole !== true || (!list.hasClaude && isClaude(upstreamModel))) return false;
    return this.of(upstreamModel) === undefined;
  }

  /** Returns names of another resource, with what is written for it in place of what is written here. */
  at(written: Written | null): DeploymentNames {
    return new DeploymentNames(written ?? Object.fromEntries(this.written), this.isDiscovered);
  }
}

/** True for a name that a deployment may have. */
export function isDeployment(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name);
}

/** True for the name of a model that may have a deployment. */
export function isDeployable(model: unknown): model is string {
  return typeof model === 'string' && MODEL.test(model);
}

/** Azure writes DeepSeek-V3.2 and Mistral-Medium-3.5 where others write deepseek-v3.2 and mistral-medium-3-5. */
function keyOf(model: string): string {
  return model.toLowerCase().replaceAll('.', '-');
}

/**
 * Reads `{object: "list", data: [{id, model, status}]}`; null for anything else. Of several deployments of one model the
 * one that has its name counts, else the first by name: each edge has to find the same.
 */
export function readDeploymentList(body: unknown): DeploymentList | null {
  if (!isObject(body) || body.object !== 'list' || !Array.isArray(body.data)) return null;
  const names = new Map<string, string>();
  let isWhole = body.has_more !== true && body.nextLink === undefined;
  let read = 0;
  for (const entry of body.data as unknown[]) {
    const { id, model, status = 'succeeded' } = isObject(entry) ? entry : {};
    if (!isDeployment(id) || !isDeployable(model)) {
      isWhole = false;
      continue;
    }
    read += 1;
    if (status !== 'succeeded') continue;
    const key = keyOf(model);
    const known = names.get(key);
    if (known === undefined && names.size >= DEPLOYMENTS_MAX) isWhole = false;
    else if (known === undefined || isBefore(id, known, key)) names.set(key, id);
  }
  // A list of something else has entries, and none that says which model it is of.
  const hasClaude = [...names.keys()].some(isClaude);
  return read === 0 && body.data.length > 0 ? null : { names, isWhole, hasClaude };
}

function isClaude(model: string): boolean {
  return model.startsWith('claude-');
}

function isBefore(id: string, known: string, key: string): boolean {
  const [isOwn, wasOwn] = [keyOf(id) === key, keyOf(known) === key];
  return isOwn === wasOwn ? id < known : isOwn;
}
