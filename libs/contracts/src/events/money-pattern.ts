/** An amount of USD as records and events write it: a decimal string. */
export const MONEY_PATTERN = /^-?\d{1,20}(\.\d{1,12})?$/;
