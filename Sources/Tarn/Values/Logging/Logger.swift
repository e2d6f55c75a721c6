import TarnStore

/// The amount of logging, and the severity of a message.
public enum LogLevel: Int, Comparable, CaseIterable, Sendable {
  case off, fatal, error, warn, info, detail, debug, trace, all

  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// Receives the library's messages: at `.warn` the problems that it worked around; at `.info` also
/// the files that were opened, extended with classes, migrated, deleted and refused; at `.detail`
/// the content of a file when it was opened, and its closing.
///
/// ```swift
/// Logger.shared = Logger(level: .info) { level, message in print(level, message) }
/// ```
///
/// Threading: any. The function is called on the thread that logs, and must not use a Realm.
public final class Logger: Sendable {
  /// The function that receives a message.
  public typealias LogFunction = @Sendable (_ level: LogLevel, _ message: String) -> Void

  private let threshold: Lock<LogLevel>
  private let function: LogFunction?

  /// - Parameters:
  ///   - level: the least severe messages that are passed on.
  ///   - logFunction: receives them; nil for standard error.
  public init(level: LogLevel = .warn, logFunction: LogFunction? = nil) {
    threshold = Lock(level)
    function = logFunction
  }

  /// The least severe messages that are passed on.
  public var level: LogLevel {
    get { threshold.withLock { $0 } }
    set { threshold.withLock { $0 = newValue } }
  }

  /// The logger that the library uses. By default warnings and errors go to standard error.
  public static var shared: Logger {
    get { current.withLock { $0 } }
    set {
      current.withLock { $0 = newValue }
      StoreLog.shared.setHook { level, message in Logger.shared.receive(level, message) }
    }
  }

  private static let current = Lock(ofProcess: Logger())

  private func receive(_ level: StoreLog.Level, _ message: String) {
    let level: LogLevel =
      switch level {
      case .debug: .debug
      case .detail: .detail
      case .info: .info
      case .warning: .warn
      case .error: .error
      }
    log(level: level, message: message)
  }

  /// Passes a message on if it is severe enough.
  public func log(level: LogLevel, message: String) {
    guard level != .off, level <= self.level else { return }
    if let function { return function(level, message) }
    StoreLog.writeToStandardError(message)
  }
}
