# SPDX-License-Identifier: MIT
#
# layout.awk: from readelf's list of debug information, where each field of Agate's structs is.

function flush()
{
	if (name ~ /^drm_agate_/ && tag == "structure")
		print name " size " size
	if (name != "" && tag == "member" && owner ~ /^drm_agate_/)
		print owner " field " name " " at
	if (tag == "structure")
		owner = name
	name = ""
	at = size = "none"
}

/DW_TAG_/ {
	flush()
	tag = $0
	sub(/.*DW_TAG_/, "", tag)
	sub(/(_type)?\)$/, "", tag)
}
/DW_AT_name/ { name = $NF }
/DW_AT_byte_size/ { size = $NF }
/DW_AT_data_member_location/ { at = $NF }
END { flush() }
