#ifndef STRESS_SETTING_H
#define STRESS_SETTING_H

// What a process of the stress runs does to itself: another user, another clock, another run
// of the system, mounts that only it and its children see, a child by fork.

// Becomes another user, for good. Returns 0 or an error number.
int stress_become(unsigned int user);

// From now on the clock of the day is that many seconds ahead, in this process only. The monotonic
// clock stays.
void stress_jump_clock(long long seconds);

// From now on the system seems to have been started again: its boot id is another one at each
// reading.
void stress_restart_system(void);

// Mounts from now on are seen by this process and its children only, and end with the last of them.
// Call it before other threads begin. Returns 0 or an error number.
int stress_keep_mounts(void);

// fork(2), which Swift does not offer.
int stress_fork(void);

#endif
