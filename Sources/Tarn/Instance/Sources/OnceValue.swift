import Synchronization
import TarnStore

/// A value that is computed once, by the first thread that asks. Others wait for it.
final class OnceValue<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private let known = AtomicLazyReference<Box>()
  /// Held by the thread that computes it.
  private let turn = Lock(())

  var isKnown: Bool { known.load() != nil }

  func value(_ make: () throws(StorageError) -> Value) throws(StorageError) -> Value {
    if let known = known.load() { return known.value }
    return try turn.withLock { _ throws(StorageError) in
      if let known = known.load() { return known.value }
      return known.storeIfNil(Box(try make())).value
    }
  }
}
