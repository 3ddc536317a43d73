/** A fault of a record, and its place: the path of the field inside the record. */
export interface PriceFault {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}
