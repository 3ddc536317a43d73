import { IsString } from 'class-validator';

/** A new snapshot is there: the record of gateway.catalogue.v1. */
export class CatalogueEvent {
  @IsString() snapshot_id!: string;
  /** ISO 8601 UTC. */
  @IsString() created_at!: string;
}
