import { CatalogueNames, type ApiError, type CatalogueNamed } from '@gateway/contracts';

/** A catalogue that knows every name but those of the brand and the providers `nowhere`. */
export class CatalogueNamesDouble extends CatalogueNames {
  /** Thrown instead of an answer. */
  failure: ApiError | null = null;

  override async unknown({ models, ids, providers }: CatalogueNamed): Promise<CatalogueNamed> {
    if (this.failure !== null) throw this.failure;
    return {
      models: models.filter((name) => name.startsWith('nowhere/')),
      ids: ids.filter((id) => id.startsWith('nowhere/')),
      providers: providers.filter((slug) => slug.startsWith('nowhere')),
    };
  }
}
