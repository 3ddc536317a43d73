import { Group, type GroupProps } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './toolbar.module.css';

/** Tools of a page in a row. */
export function Toolbar(props: GroupProps): ReactNode {
  return <Group gap="sm" className={classes.tools} {...props} />;
}
