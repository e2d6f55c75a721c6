import Foundation

#if DEBUG
  import TarnStore

  // For tests that kill the commands; the released program reads no such variable.
  FaultPoint.armFromEnvironment()
#endif

exit(TarnProgram.run())
