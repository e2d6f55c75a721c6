/// The limits of size, for every file of the tree alike.
enum SizeChecks {
  static let linesMax = 500
  static let functionLinesMax = 70
  static let columnsMax = 100

  static func fileLength(_ file: SourceFile) -> [Finding] {
    guard file.lines.count > linesMax else { return [] }
    return [Finding(file, linesMax + 1, "\(file.lines.count) lines, more than \(linesMax)")]
  }

  static func lineWidth(_ file: SourceFile) -> [Finding] {
    file.lines.enumerated().compactMap { number, line in
      guard line.count > columnsMax else { return nil }
      return Finding(file, number + 1, "\(line.count) columns, more than \(columnsMax)")
    }
  }

  static func functionLength(_ file: SourceFile) -> [Finding] {
    FunctionFinder.functions(in: file).compactMap { function in
      guard function.count > functionLinesMax else { return nil }
      let text = "\(function.name) has \(function.count) lines, more than \(functionLinesMax)"
      return Finding(file, function.first, text)
    }
  }

  /// SwiftPM and debuggers tell the files of a module apart by their names alone.
  static func uniqueNames(_ files: [SourceFile]) -> [Finding] {
    var first: [String: SourceFile] = [:]
    return files.compactMap { file in
      let key = "\(file.module)/\(file.name)"
      if let other = first[key] { return Finding(file, 1, "named like \(other.path)") }
      first[key] = file
      return nil
    }
  }
}
