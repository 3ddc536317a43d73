import type { ReactNode } from 'react';

/** Mark of the product: one line that divides into two, as in the icon of the page. */
export function Mark({ size = 24 }: { size?: number }): ReactNode {
  return (
    <svg aria-hidden width={size} height={size} viewBox="0 0 32 32">
      <rect width="32" height="32" rx="7" fill="var(--mantine-color-gateway-8)" />
      <path
        d="M7 16h6m6-7h6m-6 14h6M13 16c4 0 2-7 6-7m-6 7c4 0 2 7 6 7"
        fill="none"
        stroke="#fff"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
    </svg>
  );
}
