import Foundation
import TarnText
import ToolSupport

/// The daemon that may be running with a configuration already.
struct RunningDaemon {
  /// Whether it answers.
  let runs: Bool
  /// False if it cannot be asked.
  let isKnown: Bool
  /// Where it listens; nil if that is not known.
  private let listens: Set<String>?

  /// Whether it may be the one that listens somewhere.
  func mayListen(at place: String) -> Bool { runs && listens?.contains(place) != false }

  /// Asks the HTTP endpoint.
  init(_ configuration: ConfigurationFiles, _ settings: DaemonSettings) {
    let noted = NotedDaemon(configuration, settings)
    listens = noted?.listens
    guard settings.http != nil || noted != nil,
      let door = try? DaemonDoor(configuration, settings, noted)
    else {
      (runs, isKnown) = (noted != nil, noted != nil)
      return
    }
    let answer = try? door.ask("/status", timeout: .seconds(5))
    let text = String(decoding: answer?.body ?? [], as: UTF8.self)
    let instance = (try? JSONScanner.value(in: text))?["instance"]
    runs = noted != nil || answer?.status == 200 && instance == .string(settings.instance)
    // The token may be known in the unit only.
    let isUnknown = settings.http.map { http in
      http.token != nil && (try? http.readToken()) == nil
    }
    isKnown = runs || isUnknown != true
  }
}
