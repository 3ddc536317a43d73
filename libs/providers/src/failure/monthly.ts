/** Words of a cap that ends with the month, unlike an account that is out of credit. */
export const MONTHLY =
  /\b(?:monthly|per[- ]month|this month(?:'s)?)\b.{0,60}\b(?:quota|limit|budget|cap|spend\w*|usage)|(?:quota|limit|budget|spend\w*|usage)\b.{0,40}\b(?:this month|per month|monthly)\b/i;
