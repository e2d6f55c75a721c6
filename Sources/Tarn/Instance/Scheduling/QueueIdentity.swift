import Dispatch

/// Recognises a queue from the code that runs on it.
enum QueueIdentity {
  /// Lives as long as the queue, even if several Dispatch objects represent it.
  private final class Mark: Sendable {
    deinit { SchedulerEnd.tell(.queue(ObjectIdentifier(self))) }
  }

  private static let key = DispatchSpecificKey<Mark>()
  private static let mainKey = DispatchSpecificKey<Bool>()
  private static let mainIsMarked: Void = DispatchQueue.main.setSpecific(key: mainKey, value: true)

  static func mark(_ queue: DispatchQueue) {
    if queue.getSpecific(key: key) == nil { queue.setSpecific(key: key, value: Mark()) }
  }

  static func isCurrent(_ queue: DispatchQueue) -> Bool {
    guard let mark = DispatchQueue.getSpecific(key: key) else { return false }
    return queue.getSpecific(key: key) === mark
  }

  /// The identity of a marked queue.
  static func id(of queue: DispatchQueue) -> ObjectIdentifier {
    queue.getSpecific(key: key).map { ObjectIdentifier($0) } ?? ObjectIdentifier(queue)
  }

  /// `DispatchQueue.main` returns a new object at each use, so objects cannot identify it.
  static func isMain(_ queue: DispatchQueue) -> Bool { queue.label == DispatchQueue.main.label }

  static var mainIsCurrent: Bool {
    _ = mainIsMarked
    return DispatchQueue.getSpecific(key: mainKey) == true
  }
}
