import CTarn
import Foundation

/// A thread that is inside its run loop, and the means to give that loop work. It does not retain
/// the loop, which ends with the thread, and with it the loop's pending work.
///
/// `RunLoop.perform` from another thread does not wake the loop, so Core Foundation wakes it, which
/// Foundation is built on and links.
@safe final class RunLoopThread: @unchecked Sendable {
  // because: RunLoop is not Sendable, yet perform and wake-up may be called on any thread.
  let thread: UInt
  private weak let loop: RunLoop?
  private let handle: UnsafeMutableRawPointer

  private init(_ loop: RunLoop, _ handle: UnsafeMutableRawPointer) {
    thread = tarn_thread_id()
    self.loop = loop
    unsafe self.handle = unsafe handle
  }

  /// This thread's loop if it is running now.
  static var current: RunLoopThread? {
    let loop = RunLoop.current
    guard loop.currentMode != nil, let handle = unsafe CFRunLoopGetCurrent() else { return nil }
    return unsafe RunLoopThread(loop, handle)
  }

  func perform(_ work: @escaping @Sendable () -> Void) {
    guard let loop else { return }
    loop.perform(inModes: [.common, .default], block: work)
    // The loop has its handle.
    unsafe CFRunLoopWakeUp(handle)
  }
}
