import TarnStore
import ToolSupport

/// The manual page of the configuration, tarn-daemon(5), as roff.
enum ConfigurationManual {
  static var text: String {
    var page = """
      .TH TARN\\-DAEMON 5 "" "tarn \(ToolVersion.text)"
      .SH NAME
      tarn\\-daemon \\- configuration of the Tarn daemon
      .SH SYNOPSIS
      .I \(roff(DaemonCommand.file))
      .br
      .I \(roff(DaemonCommand.folder))/*.yaml
      .br
      .I \(roff(DaemonCommand.folder))/*.yml
      .SH DESCRIPTION
      The daemon watches Tarn stores and delivers their changes. Its configuration is YAML, or JSON.
      Unknown keys, keys that occur twice, and aliases are errors:
      .B tarn daemon check
      prints them by file, line and key.
      .PP
      Times are written 250ms, 10s, 5m, 2h or 7d, sizes 64kB, 1MB or 1GB, rights as octal digits
      after a 0, such as 0660.

      """
    page += section("KEYS", ConfigurationKeys.all)
    for (title, keys) in nested(ConfigurationKeys.all, "") { page += section(title, keys) }
    return page + """
      .SH FILES
      .TP
      .I /usr/share/tarn\\-daemon/watch.schema.json
      The schema of the configuration for editors, which
      .B tarn daemon \\-\\-schema
      prints.
      .SH SEE ALSO
      .BR tarn\\-daemon (1)

      """
  }

  private static func section(_ title: String, _ keys: [ConfigurationKey]) -> String {
    var text = ".SH \(roff(title))\n"
    for key in keys {
      let kind = roff(self.kind(key.kind)) + (key.isRequired ? ", needed" : "")
      text += ".TP\n.BR \(roff(key.name)) \" (\(kind))\"\n"
      text += "\(roff(sentence(key.help)))\n"
      if let standard = key.standard { text += "The default is \(roff(standard)).\n" }
    }
    return text
  }

  /// The mappings in keys, with the paths that lead to them, in capitals.
  private static func nested(
    _ keys: [ConfigurationKey], _ path: String
  ) -> [(String, [ConfigurationKey])] {
    keys.flatMap { key -> [(String, [ConfigurationKey])] in
      let title = path.isEmpty ? key.name.uppercased() : "\(path).\(key.name.uppercased())"
      return nested(key.kind, title)
    }
  }

  private static func nested(
    _ kind: ConfigurationKey.Kind, _ title: String
  ) -> [(String, [ConfigurationKey])] {
    switch kind {
    case .keys(let keys), .list(let keys), .textsOr(let keys, _):
      return [(title, keys)] + nested(keys, title)
    case .variants(let variants):
      return variants.flatMap { variant in
        let title = "\(title).\(variant.name.uppercased())"
        return [(title, variant.keys)] + nested(variant.keys, title)
      }
    case .either(let kinds): return kinds.flatMap { nested($0, title) }
    default: return []
    }
  }

  private static func kind(_ kind: ConfigurationKey.Kind) -> String {
    switch kind {
    case .text, .matching: "text"
    case .url: "URL"
    case .path: "absolute path"
    case .texts, .someTexts: "text or list of texts"
    case .textsOr: "list of texts and mappings"
    case .integer(let range): "number from \(range.lowerBound) to \(range.upperBound)"
    case .bool: "true or false"
    case .only: "true"
    case .choice(let words): words.joined(separator: " or ")
    case .duration: "time"
    case .size: "size"
    case .limit: "age, size, both with a comma, or none"
    case .rights: "rights"
    case .keys: "mapping"
    case .list, .variants: "list of mappings"
    case .either(let kinds): kinds.map { self.kind($0) }.joined(separator: ", or ")
    }
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  private static func roff(_ text: String) -> String { CommandLineParser.roff(text) }
}
