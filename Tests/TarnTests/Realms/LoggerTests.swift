import Foundation
import Synchronization
import TarnStore
import Testing

@testable import Tarn

private final class Lines: Sendable {
  let all = Mutex<[String]>([])
}

struct LoggerTests {
  @Test func messagesAsGraveAsTheLevelArePassedOn() {
    let lines = Lines()
    let before = Logger.shared
    defer { Logger.shared = before }
    let marker = UUID().uuidString
    Logger.shared = Logger(level: .warn) { level, message in
      guard message.hasSuffix(marker) else { return }
      lines.all.withLock { $0.append("\(level) \(message.first!)") }
    }
    StoreLog.shared.write(.error, "a \(marker)")
    StoreLog.shared.write(.info, "b \(marker)")
    Logger.shared.level = .all
    StoreLog.shared.write(.debug, "c \(marker)")
    Logger.shared.level = .off
    StoreLog.shared.write(.error, "d \(marker)")
    #expect(lines.all.withLock { $0 } == ["error a", "debug c"])
  }
}
