import { Injectable } from '@nestjs/common';
import { CatalogueNames, type CatalogueAsked, type CatalogueNamed } from '@gateway/contracts';
import { ModelReads } from '../models/model-reads.js';
import { OwnEntries } from '../own/own-entries.js';

/** The model that the gateway chooses. */
const AUTO = 'auto';

/** Names of the newest snapshot, beside the providers that this release and the operator's file can call. */
@Injectable()
export class SnapshotNames extends CatalogueNames {
  private readonly callable: ReadonlySet<string>;

  constructor(
    private readonly reads: ModelReads,
    own: OwnEntries,
  ) {
    super();
    this.callable = new Set(own.release().adapters.keys());
  }

  override unknown({
    models,
    ids,
    providers,
    org_id: orgId = null,
  }: CatalogueAsked): Promise<CatalogueNamed> {
    return Promise.resolve().then(() => {
      const listed = new Set(this.reads.names().providers.map(({ slug }) => slug));
      const aliases = new Set(this.reads.aliasNames(orgId));
      return {
        models: models.filter((name) => name !== AUTO && !this.reads.isKnown(name) && !aliases.has(name)),
        ids: ids.filter((id) => !this.reads.isListed(id) && !aliases.has(id)),
        providers: providers.filter((slug) => !listed.has(slug) && !this.callable.has(slug)),
      };
    });
  }
}
