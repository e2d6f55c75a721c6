import Foundation
import Tarn
import TarnStore
import ToolSupport

/// `tarn daemon check`: what is wrong in a configuration, and what it would do to cursors.
struct CheckCommand {
  /// The path of the configuration, and what it says.
  let path: String
  let settings: DaemonSettings

  func run() throws -> ExitCode {
    let context = try DaemonContext(settings, DaemonLog(), makesFolder: false)
    for text in try Self.findings(settings, context) { print(text) }
    print(
      "\(path): \(counted(settings.watches.count, "watch", "watches")), no problem")
    return .success
  }

  /// What the files themselves say against the configuration.
  static func findings(
    _ settings: DaemonSettings, _ context: DaemonContext
  ) throws -> [String] {
    var warnings: [String] = []
    var expected: [String: Set<String>] = [:]
    for watch in settings.watches {
      let paths = FileTable.paths(of: watch.file)
      if paths.isEmpty { warnings.append("\(watch.name): no file matches \(watch.file) yet") }
      for path in paths {
        for sink in watch.sinks {
          for name in [watch.name, watch.formerName].compactMap({ $0 }) {
            expected[path, default: []].insert(context.cursorName(name, sink.name))
          }
        }
        do {
          warnings += try OpenFile(path, readOnly: true).findings(watch, context)
        } catch {
          warnings.append("\(watch.name): \(path): \(error)")
        }
      }
    }
    for (path, names) in expected.sorted(by: { $0.key < $1.key }) {
      let known = (try? OpenFile(path, readOnly: true).store.cursors()) ?? []
      for cursor in known.map(\.record.name) {
        guard let name = context.ownName(of: cursor), !names.contains(name) else { continue }
        warnings.append(
          "\(path): the cursor '\(cursor)' belongs to no watch any more: delete it with 'tarn "
            + "cursor delete \(path) \(cursor)', or give its watch's name to 'rename'"
        )
      }
    }
    return warnings
  }
}

extension OpenFile {
  /// What a watch would meet here.
  fileprivate func findings(_ watch: WatchSettings, _ context: DaemonContext) throws -> [String] {
    var found: [String] = []
    for sink in watch.sinks {
      let name = context.cursorName(watch.name, sink.name)
      let earlier = try earlierCursors(of: name)
      if try cursorRecord(name) == nil, earlier.count > 1 {
        found.append("\(watch.name)/\(sink.name): \(path): \(Self.doubt(earlier, name))")
      }
      if try selectionDiffers(of: earlier.first?.record.name ?? name, watch) {
        found.append(
          "\(watch.name)/\(sink.name): \(path): starts anew, because class, filter or columns "
            + "differ from those of its cursor")
      }
    }
    if path.withPath({ access($0, W_OK) }) != 0 {
      found.append(
        "\(watch.name): \(path): cannot be written, so positions are kept in the state folder and "
          + "hold only as long as the file's retention")
    }
    return found
  }
}

private func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}
