import CTarn
import Synchronization

/// One element for each thread that uses it. Finding it takes no lock.
///
/// Elements stay as long as the list. When a thread has ended, the next one with the same number
/// gets its element.
///
/// Threading: any; each element belongs to its thread.
@safe final class ThreadList<Element: AnyObject> {
  /// The newest entry, which links to the others.
  private let newest = unsafe Atomic<Unmanaged<Entry>?>(nil)

  @safe private final class Entry {
    let thread: UInt
    let element: Element
    /// The entry that was the newest before this one; does not change once others can see this.
    var next: Unmanaged<Entry>?

    init(_ thread: UInt, _ element: Element) {
      self.thread = thread
      self.element = element
    }
  }

  deinit {
    var current = unsafe newest.load(ordering: .acquiring)
    while let entry = unsafe current {
      unsafe current = unsafe entry._withUnsafeGuaranteedRef { unsafe $0.next }
      unsafe entry.release()
    }
  }

  /// The element of the calling thread.
  ///
  /// - Parameter make: called if the thread has none yet.
  func here(_ make: () -> Element) -> Element {
    let thread = tarn_thread_id()
    var current = unsafe newest.load(ordering: .acquiring)
    while let entry = unsafe current {
      let (owner, next) = unsafe entry._withUnsafeGuaranteedRef { unsafe ($0.thread, $0.next) }
      if owner == thread { return unsafe entry._withUnsafeGuaranteedRef { $0.element } }
      unsafe current = unsafe next
    }
    return begin(thread, make())
  }

  private func begin(_ thread: UInt, _ element: Element) -> Element {
    let made = Entry(thread, element)
    let handle = unsafe Unmanaged.passRetained(made)
    var isDone = false
    unsafe made.next = unsafe newest.load(ordering: .acquiring)
    while !isDone {
      let (exchanged, found) = unsafe newest.compareExchange(
        expected: made.next, desired: handle, successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      isDone = exchanged
      if !exchanged { unsafe made.next = unsafe found }
    }
    return element
  }
}
