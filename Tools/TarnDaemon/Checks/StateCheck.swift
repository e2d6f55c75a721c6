import Foundation

extension Positions {
  /// Why this process cannot keep the positions of a sink; nil if it can.
  func fault(_ watch: String, _ sink: String) -> String? {
    let folder = sinkFolder(watch, sink)
    if let fault = PathRights.faultOfFolders(folder) { return fault }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let foreign = names.sorted().first { !PathRights.may("\(folder)/\($0)", R_OK | W_OK) }
    return foreign.map { "\(PathRights.who) cannot read and write \(folder)/\($0)" }
  }
}
